//! What an action does to the world.

use crate::words::words;

words! {
    /// What an action does to the world, from harmless to final.
    Effect {
        /// Looks, changes nothing.
        Read = "read",
        /// Changes something that can be put back.
        Write = "write",
        /// Leaves the house: mail, payment, post.
        External = "external",
        /// Cannot be put back.
        Destructive = "destructive",
    }
}

impl Effect {
    /// `external` and `destructive` are dangerous.
    pub const fn is_dangerous(self) -> bool {
        matches!(self, Effect::External | Effect::Destructive)
    }

    /// Everything but `read`.
    pub const fn is_write(self) -> bool {
        !matches!(self, Effect::Read)
    }
}

//! Which surfaces are switched on.

use model::Surface;

use super::document::{Node, Section};
use super::mistake::Notes;

/// Which surfaces are switched on; all are, unless the file says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surfaces {
    off: Vec<Surface>,
}

impl Surfaces {
    /// Whether calls may come in there.
    pub fn is_on(&self, surface: Surface) -> bool {
        !self.off.contains(&surface)
    }

    /// Reads `[surfaces]`.
    pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        let keys: Vec<&str> = Surface::ALL.iter().map(|surface| surface.as_str()).collect();
        let section = Section::open(node, "[surfaces]", &keys, notes)?;
        let off = Surface::ALL.iter().copied().filter(|surface| !section.boolean(surface.as_str(), true));
        Some(Self { off: off.collect() })
    }
}

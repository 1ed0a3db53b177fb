//! What this process holds in memory (secrets, sealing keys, what agents write) is for nobody else.

/// Makes sure that no core dump is written of this process and that no other process of the same user looks into it.
/// A system that refuses is told of in the log; it is no reason not to start.
pub(crate) fn keep_private() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!(%error, "core dumps could not be switched off");
    }
    #[cfg(target_os = "linux")]
    {
        // Also what a handler of core dumps outside of this process's limits would be given.
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "this process could not be closed to debuggers and core dumps");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn no_core_dump_is_written() {
        use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};
        keep_private();
        assert_eq!(dumpable_behavior().expect("told"), DumpableBehavior::NotDumpable);
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
    }
}

//! Places on the way of a call where a test stops the process, to kill it there. Without the feature `fail-points`
//! there is nothing here: it is on in tests alone.
//!
//! `FAILPOINTS=NAME=return` names the place. Who comes there says so on the standard error and goes no further; the
//! rest of the process goes on, its leases included.

/// Goes no further when a test wants the process to stop here.
#[cfg(feature = "fail-points")]
pub(crate) async fn reach(place: &'static str) {
    if stops(place) {
        std::future::pending::<()>().await;
    }
}

/// Nothing.
#[cfg(not(feature = "fail-points"))]
#[expect(clippy::unused_async, reason = "the same shape as with the feature")]
pub(crate) async fn reach(_: &'static str) {}

/// Whether a test wants the process to stop here; says so.
#[cfg(feature = "fail-points")]
pub(crate) fn stops(place: &'static str) -> bool {
    static SETUP: std::sync::Once = std::sync::Once::new();
    // For the whole life of the process: what is dropped would let everybody go on.
    SETUP.call_once(|| std::mem::forget(fail::FailScenario::setup()));
    let stops = fail::eval(place, |_| ()).is_some();
    if stops {
        eprintln!("stopped at {place}");
    }
    stops
}

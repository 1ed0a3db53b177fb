//! At most once, as a model that is looked at whole: two processes, a crash at any step, leases that run out, repeats
//! with the key, undo, settlements, late answers, and a service that may act and then answer, fail or cut.

#[path = "desk.rs"]
mod desk;

use std::collections::{BTreeSet, HashMap};

use desk::{Desk, State, Without, World};
use stateright::{Checker, HasDiscoveries, Model, Property};

const ONCE: &str = "one effect at most per approval and per key";
const TOLD: &str = "nothing that was done is told as not done";
const TRUE: &str = "nothing that was not done is told as done";
const ENDS: &str = "every confirmed call ends";
const USED: &str = "a call can be done";

fn properties() -> Vec<Property<Desk>> {
    vec![
        Property::always(ONCE, |_, world: &World| {
            world.calls.iter().map(|call| call.effects).sum::<u8>() <= 1
        }),
        Property::always(TOLD, |_, world: &World| {
            let not_done = [State::Held, State::Approved, State::Failed, State::Unsent];
            world.calls.iter().all(|call| call.effects == 0 || !not_done.contains(&call.state))
        }),
        Property::always(TRUE, |_, world: &World| {
            world.calls.iter().all(|call| call.effects > 0 || call.state != State::Done)
        }),
        // Where nothing can happen any more nothing is open. That every way leads there is looked at below.
        Property::always(ENDS, |desk: &Desk, world: &World| {
            !world.has_open() || !desk.next_steps(world).is_empty()
        }),
        Property::sometimes(USED, |_, world: &World| {
            world.calls.iter().any(|call| call.state == State::Done)
        }),
    ]
}

fn desks(without: Without) -> impl Iterator<Item = Desk> {
    [(true, false), (false, false), (true, true), (false, true)]
        .into_iter()
        .map(move |(undo_window, in_doubt_on)| Desk { without, undo_window, in_doubt_on })
}

#[test]
fn at_most_once_whatever_crashes() {
    for desk in desks(Without::Nothing) {
        let checked = desk.checker().threads(2).spawn_bfs().join();
        println!("{desk:?}: {} states", checked.unique_state_count());
        checked.assert_properties();
    }
}

/// Whether a desk without this breaks the property, however it is set up.
fn breaks(without: Without, property: &'static str) -> bool {
    desks(without).any(|desk| {
        let until = HasDiscoveries::AnyOf(BTreeSet::from([property]));
        desk.checker().finish_when(until).threads(2).spawn_bfs().join().discovery(property).is_some()
    })
}

#[test]
fn whatever_is_left_out_is_missed() {
    for (without, missed) in [
        (Without::GivingUp, ONCE),
        (Without::LeaseCheck, TOLD),
        (Without::LeaseCheck, ONCE),
        (Without::IntentGuard, ONCE),
        (Without::UndoGuard, TOLD),
        (Without::UniqueClaim, ONCE),
        (Without::KeptKey, ONCE),
        (Without::ClosedConnection, TOLD),
        (Without::DoubtfulStatus, TOLD),
        (Without::Recovery, ENDS),
    ] {
        assert!(breaks(without, missed), "{without:?} does not break “{missed}”");
    }
}

/// No way through the model leads back to where it was, so every way ends.
#[test]
fn every_way_ends() {
    for desk in desks(Without::Nothing) {
        // `false`: on the way to it; `true`: all that follows was seen.
        let mut seen = HashMap::new();
        let mut path: Vec<(World, bool)> =
            desk.init_states().into_iter().map(|world| (world, false)).collect();
        while let Some((world, left)) = path.pop() {
            if left {
                seen.insert(world, true);
                continue;
            }
            if let Some(done) = seen.get(&world) {
                assert!(done, "a way leads back to {world:?}");
                continue;
            }
            let next = desk.next_states(&world);
            seen.insert(world.clone(), false);
            path.push((world, true));
            path.extend(next.into_iter().map(|next| (next, false)));
        }
    }
}

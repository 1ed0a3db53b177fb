//! A state is taken as it was made and where it belongs, and nowhere else.

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::ambient::Ambient;

const AGE: i64 = 86_400;

fn key() -> String {
    Sealer::generate(&Ambient::system())
}

fn sealer(keys: &[&String]) -> Sealer {
    let text = keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(",");
    Sealer::parse(&text, Ambient::system()).expect("keys")
}

fn now() -> Time {
    Time::from_micros(1_800_000_000_000_000)
}

fn state() -> RequestState {
    RequestState::first(CallId::from_uuid(Uuid::from_u128(7)), now(), AGE)
}

fn hash(value: &serde_json::Value) -> InputHash {
    InputHash::of(value.as_object().expect("an object"))
}

fn binding() -> Binding<'static> {
    Binding {
        audience: "https://desk.example",
        person: PersonId::from_uuid(Uuid::from_u128(1)),
        method: "tools/call",
        tool: "send_mail",
        arguments: hash(&json!({ "to": "a@b.example", "body": "x" })),
    }
}

fn open(text: &str, sealer: &Sealer) -> Result<RequestState, StateFault> {
    RequestState::open(text, sealer, &binding(), now(), AGE)
}

#[test]
fn what_was_sealed_is_what_opens() {
    let sealer = sealer(&[&key()]);
    let text = state().seal(&sealer, &binding());
    assert!(text.starts_with("cs1.") && text.len() < LONGEST, "{text}");
    assert_eq!(open(&text, &sealer), Ok(state()));
    let second = state().next_round();
    assert_eq!((second.round, second.issued), (2, state().issued));
    assert_eq!(open(&second.seal(&sealer, &binding()), &sealer), Ok(second));
    assert!(!text.contains(&state().call.to_string()), "the client cannot read it");
}

#[test]
fn every_changed_character_is_noticed() {
    let sealer = sealer(&[&key()]);
    let text = state().seal(&sealer, &binding());
    for at in 0..text.len() {
        for other in [b'A', b'b', b'0', b'.', b'_', b'=', b' '] {
            let mut bytes = text.clone().into_bytes();
            if bytes[at] == other {
                continue;
            }
            bytes[at] = other;
            let changed = String::from_utf8(bytes).expect("ASCII");
            let fault = open(&changed, &sealer).expect_err("changed");
            let of_key = (4..12).contains(&at);
            assert!(
                fault == StateFault::Tampered || (of_key && fault == StateFault::UnknownKey),
                "character {at}: {fault:?}"
            );
        }
        assert_eq!(open(&text[..at], &sealer), Err(StateFault::Tampered), "cut to {at}");
    }
    assert_eq!(open(&format!("{text}A"), &sealer), Err(StateFault::Tampered));
    assert_eq!(open(&format!("{text}.{text}"), &sealer), Err(StateFault::Tampered));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let sealer = sealer(&[&key()]);
    let text = state().seal(&sealer, &binding());
    let (head, last) = text.rsplit_once('.').expect("three parts");
    let blob = URL_SAFE_NO_PAD.decode(last).expect("base64url");
    for bit in 0..blob.len() * 8 {
        let mut blob = blob.clone();
        blob[bit / 8] ^= 1 << (bit % 8);
        let changed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(&blob));
        assert_eq!(open(&changed, &sealer), Err(StateFault::Tampered), "bit {bit}");
    }
}

#[test]
fn every_binding_counts() {
    let sealer = sealer(&[&key()]);
    let text = state().seal(&sealer, &binding());
    let others = [
        Binding { audience: "https://other.example", ..binding() },
        Binding { person: PersonId::from_uuid(Uuid::from_u128(2)), ..binding() },
        Binding { method: "prompts/get", ..binding() },
        Binding { tool: "send_mail_later", ..binding() },
        Binding { arguments: hash(&json!({ "to": "a@b.example", "body": "y" })), ..binding() },
        Binding { arguments: hash(&json!({ "to": "a@b.example" })), ..binding() },
    ];
    for other in others {
        let opened = RequestState::open(&text, &sealer, &other, now(), AGE);
        assert_eq!(opened, Err(StateFault::BoundElsewhere), "{other:?}");
    }
}

#[test]
fn the_order_of_arguments_does_not_count() {
    let sealer = sealer(&[&key()]);
    let text = state().seal(&sealer, &binding());
    let turned = Binding { arguments: hash(&json!({ "body": "x", "to": "a@b.example" })), ..binding() };
    assert_eq!(RequestState::open(&text, &sealer, &turned, now(), AGE), Ok(state()));
}

#[test]
fn no_part_of_a_binding_is_taken_for_another() {
    let one = Binding { method: "a", tool: "b\",\"c", ..binding() };
    let other = Binding { method: "a\",\"b", tool: "c", ..binding() };
    assert_ne!(one.place(), other.place());
}

#[test]
fn the_first_key_seals_and_all_open() {
    let (old, new) = (key(), key());
    let before = state().seal(&sealer(&[&old]), &binding());
    let both = sealer(&[&new, &old]);
    assert_eq!(open(&before, &both), Ok(state()), "made before the rotation");
    let after = state().seal(&both, &binding());
    assert_eq!(open(&after, &sealer(&[&new])), Ok(state()), "made with the new key");
    assert_eq!(open(&after, &sealer(&[&old])), Err(StateFault::UnknownKey), "a node without the new key");
    assert_eq!(open(&before, &sealer(&[&new])), Err(StateFault::UnknownKey), "the old key is gone");
    assert_eq!(open(&after, &sealer(&[&old, &new])), Ok(state()), "whatever their order");
}

#[test]
fn a_state_has_its_time() {
    let sealer = sealer(&[&key()]);
    let text = state().seal(&sealer, &binding());
    let at = |seconds, max_age| {
        RequestState::open(&text, &sealer, &binding(), now().plus_seconds(seconds), max_age)
    };
    assert!(at(AGE - 1, AGE).is_ok());
    assert_eq!(at(AGE, AGE), Err(StateFault::TooOld));
    assert_eq!(at(60, 60), Err(StateFault::TooOld), "a shorter setting counts at once");
    assert_eq!(at(AGE, 10 * AGE), Err(StateFault::TooOld), "a longer one does not revive");
}

#[test]
fn what_is_no_state_is_none() {
    let sealer = sealer(&[&key()]);
    let long = format!("cs1.00000000.{}", "A".repeat(2_000));
    for text in ["", ".", "cs1", "cs1.", "cs1..", "cs2.00000000.AAAA", "cs1.0000.AAAA", "cs1.é.AAAA", &long]
    {
        assert_eq!(open(text, &sealer), Err(StateFault::Tampered), "{text}");
    }
}

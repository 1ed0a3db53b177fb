//! What stands against guessing passwords.

#[macro_use]
mod desk;

use std::net::IpAddr;

use desk::Desk;
use engine::Engine;
use model::Refusal;

const PASSWORD: &str = "fetch-bexar-wantn";

const STRANGE: &str = "203.0.113.9";
const HOME: &str = "198.51.100.7";

/// How a try came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Right,
    Wrong,
    /// Not looked at; wait so many seconds.
    Later(u32),
}

async fn tried(engine: &Engine, email: &str, password: &str, from: &str) -> Came {
    let from: IpAddr = from.parse().expect("an address");
    match engine.sign_in(email, password, Some(from)).await {
        Ok(Some(_)) => Came::Right,
        Ok(None) => Came::Wrong,
        Err(Refusal::RateLimited { retry_after }) => Came::Later(retry_after),
        Err(other) => panic!("{other:?}"),
    }
}

async fn with_password(desk: &Desk) -> &Engine {
    desk.engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
    &desk.engine
}

on_both! {
    async fn after_five_failures_tries_wait_longer_and_longer_and_are_not_looked_at(desk: Desk) {
        let engine = with_password(&desk).await;
        for _ in 0..5 {
            assert_eq!(tried(engine, "ann@desk.test", "wrong", STRANGE).await, Came::Wrong);
        }
        let looked_at = engine.passwords_verified();
        let mut waits = Vec::new();
        for _ in 0..6 {
            let Came::Later(seconds) = tried(engine, "ANN@desk.test", PASSWORD, STRANGE).await else { panic!("taken") };
            waits.push(seconds);
            assert_eq!(engine.passwords_verified(), looked_at + waits.len() as u64 - 1, "not looked at, though right");
            desk.pass(i64::from(seconds));
            assert_eq!(tried(engine, "ann@desk.test", "wrong", STRANGE).await, Came::Wrong);
        }
        let expected = [30, 60, 120, 240, 480, 900];
        assert!(waits.iter().zip(expected).all(|(told, meant)| (meant / 2 + 1..=meant).contains(told)), "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= 900), "never for longer than that");
        // Another node counts with it.
        let Came::Later(_) = tried(&desk.second_node().await, "ann@desk.test", PASSWORD, STRANGE).await else { panic!("taken") };
        desk.pass(900);
        assert_eq!(tried(engine, "ann@desk.test", PASSWORD, STRANGE).await, Came::Right);
        // The account's own count is gone.
        for _ in 0..5 {
            assert_eq!(tried(engine, "ann@desk.test", "wrong", STRANGE).await, Came::Wrong);
        }
    }
}

on_both! {
    async fn whoever_exists_is_not_told_and_costs_the_same(desk: Desk) {
        let engine = with_password(&desk).await;
        desk.engine.set_password("max@desk.test", PASSWORD).await.expect("set");
        desk.engine.disable_person("max@desk.test").await.expect("disabled");
        for email in ["ann@desk.test", "nobody@desk.test", "olga@desk.test", "max@desk.test", "", "a\0b"] {
            let before = engine.passwords_verified();
            let mut came = Vec::new();
            for _ in 0..6 {
                came.push(tried(engine, email, "wrong", STRANGE).await);
            }
            assert_eq!(engine.passwords_verified() - before, 5, "{email}: one hash a try that is taken");
            assert_eq!(came[..5], [Came::Wrong; 5], "{email}");
            assert!(matches!(came[5], Came::Later(1..=30)), "{email}: {came:?}");
        }
        // Nor by what is let through from where somebody signs in.
        engine.set_password("olga@desk.test", PASSWORD).await.expect("set");
        assert_eq!(tried(engine, "olga@desk.test", PASSWORD, HOME).await, Came::Right);
        for email in ["ann@desk.test", "olga@desk.test", "nobody@desk.test"] {
            for _ in 0..5 {
                tried(engine, email, "wrong", STRANGE).await;
            }
            assert_eq!(tried(engine, email, "wrong", HOME).await, Came::Wrong, "{email}");
        }
    }
}

on_both! {
    async fn strangers_cannot_lock_a_person_out_from_where_they_sign_in(desk: Desk) {
        let engine = with_password(&desk).await;
        assert_eq!(tried(engine, "ann@desk.test", PASSWORD, HOME).await, Came::Right);
        for _ in 0..8 {
            tried(engine, "ann@desk.test", "wrong", STRANGE).await;
        }
        assert!(matches!(tried(engine, "ann@desk.test", PASSWORD, STRANGE).await, Came::Later(_)));
        assert!(matches!(tried(engine, "ann@desk.test", PASSWORD, "203.0.113.10").await, Came::Later(_)), "nor from another strange place");
        assert_eq!(tried(engine, "ann@desk.test", PASSWORD, HOME).await, Came::Right);
        // From there too only so many failures are taken.
        for _ in 0..5 {
            assert_eq!(tried(engine, "ann@desk.test", "wrong", HOME).await, Came::Wrong);
        }
        assert!(matches!(tried(engine, "ann@desk.test", PASSWORD, HOME).await, Came::Later(_)));
        // A place is known for thirty days, and then it is as strange as any.
        desk.pass(31 * 86_400);
        engine.erase().await.expect("erased");
        for table in ["sign_in_tries", "sign_in_places"] {
            assert_eq!(desk.database.count(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
        }
    }
}

on_both! {
    async fn an_address_may_not_go_from_account_to_account(desk: Desk) {
        let engine = with_password(&desk).await;
        for n in 0..30 {
            // To have an account of one's own changes nothing.
            if n % 7 == 0 {
                assert_eq!(tried(engine, "ann@desk.test", PASSWORD, STRANGE).await, Came::Right, "{n}");
            }
            assert_eq!(tried(engine, &format!("guess-{n}@desk.test"), "wrong", STRANGE).await, Came::Wrong, "{n}");
        }
        assert!(matches!(tried(engine, "guess-31@desk.test", "wrong", STRANGE).await, Came::Later(_)));
        assert!(matches!(tried(engine, "ann@desk.test", PASSWORD, STRANGE).await, Came::Later(_)));
        assert_eq!(tried(engine, "ann@desk.test", PASSWORD, HOME).await, Came::Right, "elsewhere nobody waits");
        desk.pass(120 * 30);
        assert_eq!(tried(engine, "guess-31@desk.test", "wrong", STRANGE).await, Came::Wrong, "failures are forgotten");
    }
}

on_both! {
    /// Behind an address that has failed often, a sign-in that was right makes nobody wait anew.
    async fn a_right_password_is_no_failure_of_its_address(desk: Desk) {
        let engine = with_password(&desk).await;
        for n in 0..30 {
            assert_eq!(tried(engine, &format!("guess-{n}@desk.test"), "wrong", STRANGE).await, Came::Wrong, "{n}");
        }
        let Came::Later(wait) = tried(engine, "ann@desk.test", PASSWORD, STRANGE).await else { panic!("it waits") };
        desk.pass(i64::from(wait));
        for n in 0..3 {
            assert_eq!(tried(engine, "ann@desk.test", PASSWORD, STRANGE).await, Came::Right, "{n}");
        }
        assert_eq!(tried(engine, "guess-31@desk.test", "wrong", STRANGE).await, Came::Wrong);
        assert!(matches!(tried(engine, "ann@desk.test", PASSWORD, STRANGE).await, Came::Later(_)), "that one failed");
    }
}

on_both! {
    async fn many_tries_at_once_are_no_more_than_one_after_the_other(desk: Desk) {
        let engine = with_password(&desk).await;
        let other = desk.second_node().await;
        let before = engine.passwords_verified() + other.passwords_verified();
        let tries = (0..24).map(|n| {
            let engine = if n % 2 == 0 { engine.clone() } else { other.clone() };
            tokio::spawn(async move { tried(&engine, "ann@desk.test", "wrong", &format!("203.0.113.{n}")).await })
        });
        let came: Vec<_> = futures::future::join_all(tries).await.into_iter().map(|came| came.expect("no panic")).collect();
        let wrong = came.iter().filter(|came| **came == Came::Wrong).count();
        assert_eq!(wrong, 5, "{came:?}");
        assert_eq!(engine.passwords_verified() + other.passwords_verified() - before, 5);
    }
}

on_both! {
    async fn what_was_typed_is_not_kept(desk: Desk) {
        let engine = with_password(&desk).await;
        tried(engine, "my-secret-typed-in-the-wrong-box", "wrong", STRANGE).await;
        if let Some(bytes) = desk.file_bytes() {
            let typed = b"my-secret-typed-in-the-wrong-box";
            assert!(!bytes.windows(typed.len()).any(|window| window == typed));
        }
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM sign_in_tries").await, 2);
    }
}

on_both! {
    async fn the_present_password_is_guessed_at_no_more_often(desk: Desk) {
        let engine = with_password(&desk).await;
        let me = desk.visitor(&desk.ann).await;
        for _ in 0..5 {
            let came = engine.change_password(&me, "wrong", "thrum-welkin-osier", None).await;
            assert!(matches!(came, Err(Refusal::Invalid(_))));
        }
        let looked_at = engine.passwords_verified();
        let came = engine.change_password(&me, PASSWORD, "thrum-welkin-osier", None).await;
        assert!(matches!(came, Err(Refusal::RateLimited { retry_after: 1..=30 })), "{came:?}");
        assert_eq!(engine.passwords_verified(), looked_at);
        desk.pass(30);
        engine.change_password(&me, PASSWORD, "thrum-welkin-osier", None).await.expect("changed");
    }
}

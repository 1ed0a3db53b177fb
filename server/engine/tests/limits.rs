//! Bounds that hold for several nodes at once.

mod desk;

use desk::{Desk, arrival, with};
use engine::Arrival;
use engine::catalogue::Catalogue;
use model::{Answer, Refusal, Surface};
use serde_json::json;

const MOST: usize = 3;

fn bounded(desk: &Desk) -> Catalogue {
    let mut catalogue = desk.catalogue();
    catalogue.server.max_held = u32::try_from(MOST).expect("small");
    catalogue
}

on_both! {
    async fn two_nodes_together_do_not_pass_the_limit_of_one_agent(desk: Desk) {
        let other = desk.second_node().await;
        for node in [&desk.engine, &other] {
            node.replace_catalogue(bounded(&desk));
        }
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..24 {
            let node = if number % 2 == 0 { desk.engine.clone() } else { other.clone() };
            // Some are held for a person, some are queued: both count.
            let call = arrival(desk.actor(&desk.careful).await, "note", json!({ "text": format!("{number}") }));
            let surface = if number % 3 == 0 { Surface::Queue } else { Surface::Api };
            calls.spawn(async move { node.call(Arrival { surface, ..call }, None).await });
        }
        let answers = calls.join_all().await;
        let taken = answers.iter().filter(|answer| matches!(answer, Ok(Answer::Waiting(_)))).count();
        let refused = answers.iter().filter(|answer| matches!(answer, Err(Refusal::RateLimited { .. }))).count();
        assert_eq!((taken, refused), (MOST, 24 - MOST), "{answers:?}");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls").await, 3);
    }
}

on_both! {
    async fn the_queue_of_one_caller_is_bounded_on_all_nodes(desk: Desk) {
        let other = desk.second_node().await;
        for node in [&desk.engine, &other] {
            node.replace_catalogue(bounded(&desk));
        }
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..16 {
            let node = if number % 2 == 0 { desk.engine.clone() } else { other.clone() };
            let call = arrival(desk.actor(&desk.quick).await, "note", json!({ "text": format!("{number}") }));
            calls.spawn(async move { node.call(Arrival { surface: Surface::Queue, ..call }, None).await });
        }
        let answers = calls.join_all().await;
        let taken = answers.iter().filter(|answer| matches!(answer, Ok(Answer::Waiting(_)))).count();
        assert_eq!(taken, MOST, "{answers:?}");
        assert!(desk.upstream.writes().is_empty(), "no job runs here");
    }
}

on_both! {
    /// Each prompt is a row; a redeemed one makes room.
    async fn an_agent_that_redeems_nothing_is_asked_no_more(desk: Desk) {
        desk.engine.replace_catalogue(bounded(&desk));
        let mail = |number: usize| json!({ "to": "ann@example.test", "body": number.to_string() });
        let mut token = String::new();
        for number in 0..MOST {
            match desk.engine.call(desk.quick("send_mail", mail(number)).await, None).await {
                Ok(Answer::Prompt(prompt)) => token = prompt.confirm_token,
                other => panic!("no prompt: {other:?}"),
            }
        }
        let asked = desk.engine.call(desk.quick("send_mail", mail(MOST)).await, None).await;
        assert!(matches!(asked, Err(Refusal::RateLimited { .. })), "{asked:?}");
        let redeemed = with(desk.quick("send_mail", mail(MOST - 1)).await, "confirm_token", token.into());
        assert!(matches!(desk.engine.call(redeemed, None).await, Ok(Answer::Done(_))));
        let asked = desk.engine.call(desk.quick("send_mail", mail(MOST)).await, None).await;
        assert!(matches!(asked, Ok(Answer::Prompt(_))), "{asked:?}");
    }
}

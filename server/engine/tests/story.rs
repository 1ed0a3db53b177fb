//! What a receipt tells: what became of a call, step by step, for whom it is.

mod desk;

use desk::{Behaviour, Desk, with};
use engine::{Happened, PauseScope, Right, Story, StoryStep};
use model::{
    Answer, ApprovalKind, CallId, CallStatus, Finding, Outcome, Person, ReceiptId, Refusal, Role, Settlement,
};
use serde_json::{Value, json};

async fn story(desk: &Desk, person: &Person, id: ReceiptId) -> Option<Story> {
    desk.engine.story(&desk.visitor(person).await, id).await.expect("storage")
}

/// The story of the newest receipt, as an operator reads it.
async fn newest(desk: &Desk) -> Story {
    let id = desk.receipts().await[0].id;
    story(desk, &desk.olga, id).await.expect("an operator sees it")
}

fn happened(story: &Story) -> Vec<Happened> {
    assert!(story.steps.iter().is_sorted_by_key(|step| step.at), "{:?}", story.steps);
    story.steps.iter().map(|step| step.happened.clone()).collect()
}

fn confirmed(by: &Person, rights: Vec<Right>, voided: bool) -> Happened {
    Happened::Confirmed {
        by: by.id,
        name: by.name.clone(),
        r#for: None,
        rights,
        voided,
        replaced: false,
        with_passkey: false,
    }
}

fn mail() -> Value {
    json!({ "to": "a@b.example", "body": "text" })
}

on_both! {
    async fn a_call_that_two_people_confirmed(desk: Desk) {
        let id = desk.held(desk.careful("two_people", json!({ "target": "t" })).await).await;
        desk.confirms(&desk.max, id).await.expect("recorded");
        desk.engine.undo(&desk.decider(&desk.max).await, id).await.expect("undone");
        desk.confirms(&desk.olga, id).await.expect("recorded");
        desk.confirms(&desk.max, id).await.expect("recorded");
        desk.ended(id).await;
        let story = newest(&desk).await;
        assert_eq!(story.call, id);
        let (max, olga) = (vec![Right::Role(Role::Approver)], vec![Right::Role(Role::Operator)]);
        assert_eq!(
            happened(&story),
            [
                Happened::Asked,
                Happened::Held,
                confirmed(&desk.max, max.clone(), true),
                confirmed(&desk.olga, olga, false),
                confirmed(&desk.max, max, false),
                Happened::Sent,
                Happened::Answered(Some(200)),
            ]
        );
        assert_eq!(story.receipt.approved_by, ["Olga", "Max"]);
    }
}

on_both! {
    async fn its_owner_confirmed_it_and_others_do_not_see_it(desk: Desk) {
        let id = desk.held(desk.careful("send_mail", mail()).await).await;
        desk.confirms(&desk.ann, id).await.expect("recorded");
        desk.ended(id).await;
        let receipt = desk.receipts().await[0].id;
        let own = story(&desk, &desk.ann, receipt).await.expect("it is hers");
        assert_eq!(happened(&own)[2], confirmed(&desk.ann, vec![Right::Owner], false));
        assert_eq!(story(&desk, &desk.max, receipt).await, None);
        assert!(!format!("{own:?}").contains("a@b.example"), "nothing of what was in it");
    }
}

on_both! {
    /// A confirmed call that a pause kept back was sent when it was sent, not when its undo window ended.
    async fn a_pause_before_the_send_is_no_part_of_it(desk: Desk) {
        let id = desk.held(desk.careful("undoable", json!({ "to": "a@b.example" })).await).await;
        desk.confirms(&desk.ann, id).await.expect("recorded");
        let olga = desk.visitor(&desk.olga).await;
        desk.engine.pause(&olga, PauseScope::Everything, None).await.expect("paused");
        desk.pass(3_600);
        desk.engine.send_due_calls().await.expect("storage");
        desk.engine.resume(&olga, PauseScope::Everything).await.expect("resumed");
        let resumed_at = desk.engine.now();
        desk.engine.send_due_calls().await.expect("storage");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        let story = newest(&desk).await;
        let sent = story.steps.iter().find(|step| step.happened == Happened::Sent).expect("it was sent");
        assert!(sent.at.expect("it is known when") >= resumed_at, "{story:?}");
    }
}

on_both! {
    async fn what_no_person_was_asked_about(desk: Desk) {
        let done = desk.engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
        let passed = [Happened::Asked, Happened::Passed(ApprovalKind::None), Happened::Sent, Happened::Answered(Some(200))];
        assert_eq!(happened(&newest(&desk).await), passed);

        let prompt = desk.engine.call(desk.quick("send_mail", mail()).await, None).await;
        let Ok(Answer::Prompt(prompt)) = prompt else { panic!("no prompt: {prompt:?}") };
        let again = with(desk.quick("send_mail", mail()).await, "confirm_token", json!(prompt.confirm_token));
        let done = desk.engine.call(again, None).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
        assert_eq!(happened(&newest(&desk).await)[1], Happened::Passed(ApprovalKind::ConfirmToken));
    }
}

on_both! {
    async fn an_answer_that_was_lost_and_what_was_found(desk: Desk) {
        desk.upstream.behave(Behaviour::Cut);
        let lost = desk.engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
        let Err(Refusal::OutcomeUnknown(id)) = lost else { panic!("not in doubt: {lost:?}") };
        let steps = happened(&newest(&desk).await);
        assert_eq!(steps.last(), Some(&Happened::Unanswered));
        settle(&desk, id).await;
        let story = newest(&desk).await;
        let settled = Happened::Settled {
            by: Some("Olga".to_owned()),
            finding: Finding::DidNotHappen,
            reason: Some("looked it up".to_owned()),
        };
        assert_eq!(happened(&story)[steps.len() - 1..], [Happened::Unanswered, settled.clone()]);
        assert_eq!(story.receipt.outcome, Outcome::SettledDidNotHappen);

        // An answer that comes after all is told last, and counts.
        let late = format!(
            "INSERT INTO receipt_amendments (id, receipt_id, at, outcome, upstream_status) \
             VALUES ('rct_7zzzzzzzzzzzzzzzzzzzzzzzzz', '{}', {}, 'done', 201)",
            story.receipt.id,
            desk.engine.now().micros()
        );
        desk.database.run(&late).await.expect("written");
        let story = newest(&desk).await;
        assert_eq!(happened(&story)[steps.len() - 1..], [Happened::Unanswered, settled, Happened::AnsweredLate(Some(201))]);
        assert_eq!((story.receipt.outcome, story.receipt.upstream_status), (Outcome::Done, Some(201)));
        let answered: Vec<&StoryStep> = story.steps.iter().filter(|step| step.at.is_none()).collect();
        assert!(answered.is_empty(), "every time is known");
    }
}

async fn settle(desk: &Desk, id: CallId) {
    let found = Settlement { outcome: Finding::DidNotHappen, reason: Some("looked it up".to_owned()) };
    desk.engine.settle(&desk.visitor(&desk.olga).await, id, found).await.expect("settled");
}

on_both! {
    /// By what right somebody confirmed is what it was then, whatever they are now.
    async fn a_right_is_told_as_it_was(desk: Desk) {
        let id = desk.held(desk.careful("two_people", json!({ "target": "t" })).await).await;
        desk.confirms(&desk.max, id).await.expect("recorded");
        desk.confirms(&desk.olga, id).await.expect("recorded");
        desk.ended(id).await;
        let before = newest(&desk).await;
        desk.engine.set_roles_of("max@desk.test", &[Role::Operator]).await.expect("changed");
        desk.engine.set_roles_of("olga@desk.test", &[Role::Operator, Role::Approver]).await.expect("changed");
        assert_eq!(happened(&newest(&desk).await), happened(&before));
    }
}

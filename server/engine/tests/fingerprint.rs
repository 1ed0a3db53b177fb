//! Section 5, the fingerprint: dry runs that fail, values and catalogues that change, and the path that a Confirm walks
//! again.

mod desk;

use desk::{Desk, keyed, with};
use engine::{Arrival, PageAsked};
use model::answer::{Prompt, PromptReason};
use model::refusal::TokenFault;
use model::{Answer, CallStatus, Effect, Refusal};
use serde_json::{Value, json};

fn mail() -> Value {
    json!({ "to": "a@b.example", "body": "text" })
}

async fn prompt(desk: &Desk, arrival: Arrival) -> Prompt {
    match desk.engine.call(arrival, None).await {
        Ok(Answer::Prompt(prompt)) => prompt,
        other => panic!("no prompt: {other:?}"),
    }
}

/// Actions of this test, `RULE` and all.
const WATCHED: &str = r#"
[[action]]
name = "watched"
title = "Watched"
description = "Two people look at what a dry run says."
effect = "external"
credential = "mail"
undo_window = "0s"
quorum = 2
approvers = ["role:approver", "role:operator"]
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/messages" }
dry_run = { method = "GET", url = "http://UPSTREAM/quota" }
preview = { title = "Quota {{ dry_run.quota }}" }

[[credential]]
name = "away"
hosts = ["127.0.0.1:1"]
secret = { env = "PATH" }
allow_http = true
allow_private = true

[[action]]
name = "far"
title = "Far"
description = "Its dry run reaches nobody."
effect = "external"
credential = "away"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://127.0.0.1:1/messages" }
dry_run = { method = "GET", url = "http://127.0.0.1:1/quota" }
preview = { title = "Far" }
"#;

on_both! {
    /// Section 5: a dry run answered "5xx or unreachable is 502 and nothing is held".
    async fn a_dry_run_that_fails_holds_nothing(desk: Desk) {
        desk.reload_with(WATCHED);
        desk.upstream.fail_reads(Some(503));
        for arrival in [desk.careful("send_mail", mail()).await, desk.quick("send_mail", mail()).await] {
            assert_eq!(desk.engine.call(keyed(arrival, "k"), None).await, Err(Refusal::UpstreamFailed(Some(503))));
        }
        for arrival in [desk.careful("far", json!({})).await, desk.quick("far", json!({})).await] {
            assert_eq!(desk.engine.call(arrival, None).await, Err(Refusal::UpstreamUnreachable));
        }
        for table in ["calls", "claims", "prompts"] {
            assert_eq!(desk.database.count(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
        }
    }
}

on_both! {
    /// Section 5: "When the fresh dry run fails, nothing runs and the call stays held"; section 4: 502.
    async fn a_fresh_dry_run_that_fails_leaves_the_call_held(desk: Desk) {
        let id = desk.held(desk.careful("send_mail", mail()).await).await;
        for status in [503, 404] {
            desk.upstream.fail_reads(Some(status));
            assert_eq!(desk.confirms(&desk.ann, id).await, Err(Refusal::UpstreamFailed(Some(status))));
        }
        assert!(desk.upstream.writes().is_empty());
        desk.upstream.fail_reads(None);
        desk.confirms(&desk.ann, id).await.expect("it is held still");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Section 5: "A refused redemption does not spend" the token, one whose fresh dry run fails among them.
    async fn a_fresh_dry_run_that_fails_does_not_spend_the_token(desk: Desk) {
        let token = prompt(&desk, desk.quick("send_mail", mail()).await).await.confirm_token;
        let redeem = async || desk.engine.call(with(desk.quick("send_mail", mail()).await, "confirm_token", json!(token)), None).await;
        desk.upstream.fail_reads(Some(503));
        assert_eq!(redeem().await, Err(Refusal::UpstreamFailed(Some(503))));
        desk.upstream.fail_reads(None);
        assert!(matches!(redeem().await, Ok(Answer::Done(_))));
        assert_eq!(redeem().await, Err(Refusal::ConfirmTokenInvalid(TokenFault::Used)));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

const CHANGING: &str = r#"
[[action]]
name = "changing"
title = "Changing"
description = "Its request changes."
effect = "external"
credential = "mail"
undo_window = "0s"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/PATH" }
preview = { title = "Changing" }
"#;

on_both! {
    /// Section 5: a fingerprint differs "also after a change of the catalogue": the inbox and the prompt show it anew.
    async fn a_change_of_the_catalogue_is_shown_again(desk: Desk) {
        desk.reload_with(&CHANGING.replace("PATH", "old"));
        let id = desk.held(desk.careful("changing", json!({})).await).await;
        let token = prompt(&desk, desk.quick("changing", json!({})).await).await.confirm_token;
        desk.reload_with(&CHANGING.replace("PATH", "new"));
        let Err(Refusal::PreviewChanged(Some(fresh))) = desk.confirms(&desk.ann, id).await else { panic!("not told") };
        assert_eq!(fresh.request.path, "/new");
        let again = prompt(&desk, with(desk.quick("changing", json!({})).await, "confirm_token", json!(token))).await;
        assert_eq!((again.reason, again.preview.request.path.as_str()), (Some(PromptReason::Changed), "/new"));
        assert!(desk.upstream.writes().is_empty());
        desk.confirms(&desk.ann, id).await.expect("what is shown now");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes()[0].line, "POST /new");
    }
}

const BURN: &str = r#"
[[action]]
name = "burn"
title = "Burn"
description = "Burns one thing."
effect = "write"
credential = "mail"
undo_window = "0s"
fingerprint = ["/name"]
input = { type = "object", additionalProperties = false, properties = { what = { type = "string", title = "What" } } }
request = { method = "POST", url = "http://UPSTREAM/messages", json = "{{ input }}" }
dry_run = { method = "GET", url = "http://UPSTREAM/quota" }
preview = { title = "Burn {{ input.what }}", target = "{{ input.what }}" }
"#;

on_both! {
    /// Section 5: "also after a change of the catalogue". What the catalogue says of a call is a part of what was
    /// confirmed, the effect above all: it rules how a person confirms.
    async fn what_the_catalogue_says_of_a_call_is_shown_again_when_it_changes(desk: Desk) {
        desk.reload_with(BURN);
        let input = json!({ "what": "a letter" });
        let id = desk.held(desk.careful("burn", input.clone()).await).await;
        let token = prompt(&desk, desk.quick("send_mail", mail()).await).await.confirm_token;
        desk.reload_with(BURN);
        let redeemed = desk.engine.call(with(desk.quick("send_mail", mail()).await, "confirm_token", json!(token)), None).await;
        assert!(matches!(redeemed, Ok(Answer::Done(_))), "the same catalogue again changes nothing: {redeemed:?}");
        let mut seen = desk.preview(&desk.ann, id).await;
        let ann = desk.decider(&desk.ann).await;
        let mut text = BURN.to_owned();
        for (old, new) in [
            ("effect = \"write\"", "effect = \"destructive\""),
            ("title = \"Burn {{", "title = \"Burn down {{"),
            ("title = \"What\"", "title = \"What burns\""),
            ("target = \"{{ input.what }}\"", "target = \"all of {{ input.what }}\""),
            ("title = \"Burn\"", "title = \"Burning\""),
        ] {
            text = text.replace(old, new);
            desk.reload_with(&text);
            let changed = desk.engine.decide(&ann, id, desk::confirm(&seen.version)).await;
            let Err(Refusal::PreviewChanged(Some(fresh))) = changed else { panic!("{new}: {changed:?}") };
            assert_ne!(fresh.version, seen.version, "{new}");
            assert_eq!(*fresh, desk.preview(&desk.ann, id).await);
            seen = *fresh;
        }
        assert_eq!((seen.effect, seen.title.as_str()), (Effect::Destructive, "Burn down a letter"));
        assert_eq!((seen.fields[0].label.as_str(), seen.target.as_deref()), ("What burns", Some("all of a letter")));
        desk.upstream.set_quota(4);
        let call = desk.engine.decide(&ann, id, desk::confirm(&seen.version)).await.expect("a quota is not pointed at");
        assert_eq!(call.effect, Effect::Destructive, "the row says so too");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 2);
    }
}

on_both! {
    /// Section 5: a changed preview replaces the row, "earlier votes of a quorum are void".
    async fn a_changed_preview_voids_earlier_votes(desk: Desk) {
        desk.reload_with(WATCHED);
        let id = desk.held(desk.careful("watched", json!({})).await).await;
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held);
        desk.upstream.set_quota(4);
        let changed = desk.confirms(&desk.olga, id).await;
        assert!(matches!(&changed, Err(Refusal::PreviewChanged(Some(fresh))) if fresh.title == "Quota 4"), "{changed:?}");
        assert_eq!(desk.confirms(&desk.olga, id).await.expect("recorded").status, CallStatus::Held, "Max saw another one");
        assert!(desk.upstream.writes().is_empty());
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
    }
}

/// An action that Ann may call as a member of the tenant `acme` and of the group `mailers`.
const RULED: &str = r#"
[[action]]
name = "ruled"
title = "Ruled"
description = "Its rules change."
effect = "external"
credential = "mail"
undo_window = "0s"
RULE
input = { type = "object", additionalProperties = false, properties = { x = { type = "string" } } }
request = { method = "POST", url = "http://UPSTREAM/messages" }
preview = { title = "Ruled" }
"#;

on_both! {
    /// Seed: "The state has passed the whole request path again" when a person confirms; section 5: "the whole path is
    /// walked again". Each step's no ends the call, and nothing is sent.
    async fn a_confirm_walks_every_step_again(desk: Desk) {
        for (rule, end) in [
            ("expose = [\"form\"]", Refusal::NotFound),
            ("register_when = \"false\"", Refusal::NotFound),
            ("tenants = [\"acme\"]", Refusal::NotFound),
            ("authorize = \"'mailers' in caller.groups\"", Refusal::Denied),
            ("authorize = \"false\"\ndeny_as_not_found = true", Refusal::NotFound),
            ("authorize_input = \"false\"", Refusal::Denied),
            ("rules = [ { when = \"true\", field = \"x\", message = \"Not any more.\" } ]", Refusal::invalid("/x", "Not any more.")),
        ] {
            desk.reload_with(&RULED.replace("RULE", ""));
            let id = desk.held(desk.careful("ruled", json!({})).await).await;
            desk.reload_with(&RULED.replace("RULE", rule));
            let call = desk.confirms(&desk.ann, id).await.expect("recorded");
            assert_eq!((call.status, call.problem.map(|problem| problem.code)), (CallStatus::Refused, Some(end.problem().code)), "{rule}");
        }
        desk.reload_with(&RULED.replace("RULE", ""));
        let id = desk.held(desk.careful("ruled", json!({})).await).await;
        desk.reload_with("");
        assert_eq!(desk.confirms(&desk.ann, id).await.expect("recorded").status, CallStatus::Refused, "the action is gone");
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// The same for what changed about the caller: their group and their membership of the tenant.
    async fn a_confirm_asks_again_who_calls(desk: Desk) {
        desk.reload_with(&RULED.replace("RULE", "tenants = [\"acme\"]\nauthorize = \"'mailers' in caller.groups\""));
        desk.engine.add_tenant("acme", Some("ann@desk.test")).await.expect("a tenant");
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        let arrival = Arrival { tenant: Some("acme".to_owned()), ..desk.careful("ruled", json!({})).await };
        let (first, second) = (desk.held(arrival.clone()).await, desk.held(arrival).await);
        assert_eq!(desk.engine.remove_from_group("mailers", Some("ann@desk.test")).await, Ok(true));
        let code = async |id| desk.confirms(&desk.ann, id).await.expect("recorded").problem.map(|problem| problem.code);
        assert_eq!(code(first).await, Some(Refusal::Denied.problem().code));
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        assert_eq!(desk.engine.remove_tenant("acme", Some("ann@desk.test")).await, Ok(true));
        assert_eq!(code(second).await, Some(Refusal::NotFound.problem().code));
        assert!(desk.upstream.writes().is_empty());
    }
}

const WAITS: &str = "The same call, with the same arguments, waits, is under way or ended in doubt already.";
const DONE: &str = "The same call, with the same arguments, was done within the last hour.";

on_both! {
    /// Section 5: "A held call that looks like another one still held, or like one done within the hour, says so in
    /// `warnings`."
    async fn a_preview_says_what_it_looks_like(desk: Desk) {
        let hold = async || desk.held(desk.careful("send_mail", mail()).await).await;
        let first = hold().await;
        assert!(desk.preview(&desk.ann, first).await.warnings.is_empty());
        let second = hold().await;
        let warnings = desk.preview(&desk.ann, second).await.warnings;
        assert_eq!(warnings, [WAITS]);
        assert_eq!(desk.preview(&desk.ann, first).await.warnings, [WAITS], "the one that was there first says so too");
        let other = desk.held(desk.careful("send_mail", json!({ "to": "x@y.example", "body": "text" })).await).await;
        assert!(desk.preview(&desk.ann, other).await.warnings.is_empty(), "other arguments");
        let ann = desk.decider(&desk.ann).await;
        desk.engine.decide(&ann, second, desk::decline("no")).await.expect("recorded");
        desk.confirms(&desk.ann, first).await.expect("recorded");
        assert_eq!(desk.ended(first).await.status, CallStatus::Done);
        let third = hold().await;
        let warnings = desk.preview(&desk.ann, third).await.warnings;
        assert_eq!(warnings, [DONE]);
        desk.engine.decide(&ann, third, desk::decline("no")).await.expect("recorded");
        desk.pass(3_601);
        let late = hold().await;
        assert!(desk.preview(&desk.ann, late).await.warnings.is_empty(), "longer ago");
    }
}

on_both! {
    /// The same: what came after somebody looked is told before anything is sent twice, and then they may go on.
    async fn what_a_call_has_come_to_look_like_is_told_before_it_is_sent(desk: Desk) {
        let hold = async || desk.held(desk.careful("send_mail", mail()).await).await;
        let ann = desk.decider(&desk.ann).await;
        let first = hold().await;
        let alone = desk.preview(&desk.ann, first).await;
        let second = hold().await;
        let page = PageAsked::default();
        let listed = desk.engine.approvals(&ann, &page).await.expect("a list").items;
        assert_eq!(listed.len(), 2);
        for held in &listed {
            assert_eq!(held.preview, desk.preview(&desk.ann, held.call.id).await, "the list and the page tell the same");
            assert_eq!(held.preview.warnings, [WAITS]);
        }
        let changed = desk.engine.decide(&ann, first, desk::confirm(&alone.version)).await;
        let Err(Refusal::PreviewChanged(Some(beside))) = changed else { panic!("it waits beside another: {changed:?}") };
        assert_eq!(beside.warnings, [WAITS]);

        desk.confirms(&desk.ann, second).await.expect("recorded");
        assert_eq!(desk.ended(second).await.status, CallStatus::Done);
        assert_eq!(desk.preview(&desk.ann, first).await.warnings, [DONE]);
        let changed = desk.engine.decide(&ann, first, desk::confirm(&beside.version)).await;
        let Err(Refusal::PreviewChanged(Some(after))) = changed else { panic!("one was done: {changed:?}") };
        assert_eq!(after.warnings, [DONE]);
        assert_eq!(desk.upstream.writes().len(), 1, "nothing was sent twice unseen");
        let shown = desk.engine.preview_shown(&ann, first, &beside.version).await.expect("storage").expect("the same call");
        assert_eq!(shown, *beside, "what was on the screen can be told");

        let forged = desk.engine.decide(&ann, first, desk::confirm(&format!("{}-dw", alone.version))).await;
        assert!(matches!(forged, Err(Refusal::PreviewChanged(_))), "no version of ours: {forged:?}");
        desk.confirms(&desk.ann, first).await.expect("whoever has read it may go on");
        assert_eq!(desk.ended(first).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 2);
    }
}

on_both! {
    /// What has gone refuses nothing, and neither has time a say in it: confirming stays possible while others come and go.
    async fn a_likeness_that_has_gone_refuses_nothing(desk: Desk) {
        let hold = async || desk.held(desk.careful("send_mail", mail()).await).await;
        let ann = desk.decider(&desk.ann).await;
        let done = hold().await;
        desk.confirms(&desk.ann, done).await.expect("recorded");
        assert_eq!(desk.ended(done).await.status, CallStatus::Done);
        let (first, second) = (hold().await, hold().await);
        let shown = desk.preview(&desk.ann, first).await;
        assert_eq!(shown.warnings, [WAITS, DONE]);
        desk.engine.decide(&ann, second, desk::decline("no")).await.expect("recorded");
        hold().await;
        desk.pass(3_601);
        assert_eq!(desk.preview(&desk.ann, first).await.warnings, [WAITS], "one of a kind that was told, and an hour later");
        desk.engine.decide(&ann, first, desk::confirm(&shown.version)).await.expect("everything was told");
        assert_eq!(desk.ended(first).await.status, CallStatus::Done);
    }
}

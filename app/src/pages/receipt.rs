//! One receipt: its facts, and its story as a line of time.

use engine::Story;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::{Outcome, PersonId, ReceiptFacts, ReceiptId, Refusal};

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::fold::fact;
use crate::parts::icon::Mark;
use crate::parts::receipts::{answer, approved_by};
use crate::parts::story::time_line;
use crate::parts::{text, time};
use crate::words;

/// One receipt.
#[component]
pub(crate) fn ReceiptPage() -> impl IntoView {
    let id = use_params_map().read_untracked().get("receipt").and_then(|id| id.parse::<ReceiptId>().ok());
    page(Tab::Done, move |visit, me| async move {
        let id = id.ok_or(Refusal::NotFound)?;
        let story = visit.engine.story(&me, id).await?.ok_or(Refusal::NotFound)?;
        let title = format!("Receipt: {}", text::plain(&story.title));
        Ok(Sheet::new(title, Shape::Wide, receipt(&story, me.id())))
    })
}

fn receipt(story: &Story, me: PersonId) -> AnyView {
    let facts = &story.receipt;
    let zone = time::zone();
    view! {
        <article class="receipt">
            <a class="back back-always" href="/done">"← Done"</a>
            <p class="mark mark-print" aria-hidden="true"><Mark/><span>"Countersign"</span></p>
            <header class="receipt-head">
                <h1>{text::line(&story.title)}</h1>
                <p class="lead">{standing(facts)}</p>
            </header>
            <section class="sheet" aria-labelledby="facts">
                <h2 class="sheet-head" id="facts">"Receipt"</h2>
                <dl class="facts">{rows(facts, me)}</dl>
            </section>
            <section class="sheet" aria-labelledby="story">
                <h2 class="sheet-head" id="story">"What happened" <span>"times are " {zone}</span></h2>
                {time_line(story, me)}
            </section>
            <p class="receipt-end">"What was in it stands nowhere here: a receipt holds facts alone. " <a href=format!("/inbox/{}", story.call)>"The call"</a></p>
        </article>
    }
    .into_any()
}

/// How it ended, in a sentence.
fn standing(facts: &ReceiptFacts) -> String {
    let answered = facts.upstream_status.map(words::answer);
    match (facts.outcome, answered) {
        (Outcome::Done, Some(answer)) => format!("Sent, and the service answered {answer}."),
        (Outcome::Done, None) => "Done.".to_owned(),
        (Outcome::InDoubt, _) => {
            "Not known: it was sent and its answer was lost. It may or may not have happened.".to_owned()
        }
        (Outcome::SettledHappened, _) => {
            "Its answer was lost. Somebody has settled that it happened.".to_owned()
        }
        (Outcome::SettledDidNotHappen, _) => {
            "Its answer was lost. Somebody has settled that it did not happen.".to_owned()
        }
    }
}

fn rows(facts: &ReceiptFacts, me: PersonId) -> Vec<AnyView> {
    let or_none = |value: &Option<String>, none: &'static str| {
        value.as_ref().map_or_else(|| none.into_any(), |value| text::line(value))
    };
    let size = words::bytes(usize::try_from(facts.body_size).unwrap_or(usize::MAX));
    let credential = facts
        .credential
        .as_ref()
        .map_or_else(|| "none".into_any(), |name| view! { <code>{text::line(name)}</code> }.into_any());
    let session = facts
        .session
        .as_ref()
        .map_or_else(|| "none".into_any(), |session| view! { <code>{text::line(session)}</code> }.into_any());
    let approved_at = facts.approval.at.map(|at| view! { ", " {time::full(at)} });
    let approval = facts.approval.id.map(|id| fact("Approval", view! { <code>{id.to_string()}</code> }));
    let mut rows = vec![
        fact("Written", time::full(facts.at)),
        fact("Sent", view! { <code>{text::line(&facts.method)} " " {text::line(&facts.url)}</code> }),
        fact("Size of what was sent", size),
        fact("Answer", answer(facts)),
        fact("Outcome", words::outcome(facts.outcome)),
        fact("Action", view! { <code>{text::line(&facts.action)}</code> }),
        fact("Came in by", words::surface(facts.surface)),
        fact("For", or_none(&facts.person, "nobody in particular")),
        fact("Agent", or_none(&facts.agent, "none")),
        fact("Session", session),
        fact("Credential", credential),
        fact("Approved by", view! { {approved_by(facts, me)} {approved_at} }),
    ];
    rows.extend(approval);
    // Only an override has words.
    rows.extend(
        facts
            .approval
            .reason
            .as_ref()
            .map(|words| fact("Reason of the override", view! { <q>{text::body(words)}</q> })),
    );
    rows.push(fact("Receipt", view! { <code>{facts.id.to_string()}</code> }));
    rows
}

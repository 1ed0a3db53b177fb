//! One action's form, made from its schema.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::indent::indent;
use model::{Answer, OfferedAction};

use crate::form;
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::{alert, effect, field, preview, text};
use crate::visit::Visit;

/// One action's form.
#[component]
pub(crate) fn RunAction() -> impl IntoView {
    let name = use_params_map().read_untracked().get("action").unwrap_or_default();
    page(Tab::Run, move |visit, me| async move {
        let action = form::offered(&visit.engine, &me, &name).await?;
        let title = text::plain(&action.title);
        Ok(Sheet::new(title, Shape::Column, fill_in(&visit, &action)))
    })
}

fn fill_in(visit: &Visit, action: &OfferedAction) -> AnyView {
    let posted = visit.posted(form::RUN);
    let answered = posted.as_ref().and_then(|posted| posted.answer.as_deref()).map(answer);
    view! {
        <a class="back back-always" href="/run">"← Run"</a>
        <header class="item-head">
            {effect::mark(action.effect)}
            <h1>{text::line(&action.title)}</h1>
            <p class="lead">{text::body(&action.description)}</p>
        </header>
        {alert::alert(posted.as_ref())}
        {answered}
        <form class="stack" method="post" action=form::RUN novalidate autocomplete="off">
            <input type="hidden" name="action" value=action.name.clone()/>
            {field::controls(&action.input_schema, posted.as_ref())}
            <p class="hint">{if action.effect.is_write() { "Nothing is sent yet: the next page shows what would be." } else { "This only looks, and is answered here." }}</p>
            <button class="button-strong">"Preview"</button>
        </form>
    }
    .into_any()
}

/// What a read answered, here and only once.
fn answer(answer: &Answer) -> AnyView {
    match answer {
        Answer::Done(done) => {
            let result = serde_json::to_string(&done.result).unwrap_or_default();
            view! {
                <section class="sheet" aria-label="Answer">
                    <h2 class="sheet-head">"The answer"</h2>
                    {done.reply.as_ref().map(|reply| view! { <p class="summary">{text::body(reply)}</p> })}
                    <pre class="body" tabindex="0" aria-label="Result"><code>{text::body(&indent(&result))}</code></pre>
                </section>
            }
            .into_any()
        }
        Answer::Preview(dry_run) => preview::preview(&dry_run.preview, None),
        Answer::Prompt(prompt) => preview::preview(&prompt.preview, None),
        Answer::Replayed(_) | Answer::Waiting(_) => {
            view! { <p class="warning">"This was done before. Its receipt stands under Done."</p> }.into_any()
        }
    }
}

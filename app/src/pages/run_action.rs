//! One action's form, made from its schema.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::indent::indent;
use model::{Answer, OfferedAction, Refusal};

use crate::form::{self, Posted};
use crate::frame::{Shape, Sheet, Tab, no, page};
use crate::parts::field::{Draft, Faults, Field, Filled, controls};
use crate::parts::{alert, effect, preview, text};
use crate::visit::Visit;

/// One action's form.
#[component]
pub(crate) fn RunAction() -> impl IntoView {
    let name = use_params_map().read_untracked().get("action").unwrap_or_default();
    page(Tab::Run, move |visit, me| async move {
        let tenants = visit.engine.tenants_to_run_in(&me, &name).await?;
        let Some(first) = tenants.first() else { return refused(&visit) };
        let action = form::offered(&visit.engine, &me, &name, first.as_deref()).await?;
        let title = text::plain(&action.title);
        Ok(Sheet::new(title, Shape::Column, fill_in(&visit, &action, &tenants)))
    })
}

/// Why there is no form. Whoever posted one is told what became of it.
fn refused(visit: &Visit) -> Result<Sheet, Refusal> {
    let posted = visit.posted(form::RUN).ok_or(Refusal::NotFound)?;
    let fault = posted.fault.as_ref().filter(|fault| fault.status != Refusal::NotFound.problem().status);
    Ok(no(fault.ok_or(Refusal::NotFound)?.message.clone()))
}

fn fill_in(visit: &Visit, action: &OfferedAction, tenants: &[Option<String>]) -> AnyView {
    let posted = visit.posted(form::RUN);
    let answered = posted.as_ref().and_then(|posted| posted.answer.as_deref()).map(answer);
    let input = Field::of_input(&action.input_schema);
    let draft = posted.as_ref().map_or_else(|| Draft::blank(&input), |posted| Draft::of(&posted.fields));
    let fault = posted.as_ref().and_then(|posted| posted.fault.as_ref());
    let faults = fault.map(|fault| Faults::of(&fault.errors, &input, &draft)).unwrap_or_default();
    let pressed =
        posted.as_ref().filter(|_| fault.is_none()).and_then(|posted| form::pressed(&posted.fields));
    let filled = Filled { input: &input, draft: &draft, faults: &faults, pressed };
    view! {
        <a class="back back-always" href="/run">"← Run"</a>
        <header class="item-head">
            {effect::mark(action.effect)}
            <h1>{text::line(&action.title)}</h1>
            <p class="lead">{text::body(&action.description)}</p>
        </header>
        {alert::with_list(posted.as_ref(), &faults)}
        {answered}
        <form class="stack" method="post" action=form::RUN novalidate autocomplete="off">
            // The first button of a form is pressed by Enter in a text box. It is not to add or remove a row.
            <button hidden aria-hidden="true" tabindex="-1"></button>
            <input type="hidden" name="action" value=action.name.clone()/>
            {tenant(tenants, posted.as_deref())}
            {controls(&filled)}
            <p class="hint">{if action.effect.is_write() { "Nothing is sent yet: the next page shows what would be." } else { "This only looks, and is answered here." }}</p>
            <button class="button-strong">"Preview"</button>
        </form>
    }
    .into_any()
}

/// Where it is run, when there is something to say about that.
fn tenant(tenants: &[Option<String>], posted: Option<&Posted>) -> Option<AnyView> {
    match tenants {
        [] | [None] => None,
        [Some(only)] => Some(
            view! {
                <input type="hidden" name="tenant" value=only.clone()/>
                <p>"Runs in the tenant " <strong>{text::line(only)}</strong> "."</p>
            }
            .into_any(),
        ),
        several => {
            let chosen = posted.map(|posted| posted.typed("tenant")).unwrap_or_default();
            let option = |tenant: &Option<String>| {
                let (value, name) = tenant.as_ref().map_or_else(
                    || (String::new(), "No tenant".to_owned()),
                    |tenant| (tenant.clone(), text::plain(tenant)),
                );
                let is_chosen = value == chosen;
                view! { <option value=value selected=is_chosen>{name}</option> }
            };
            let options: Vec<_> = several.iter().map(option).collect();
            Some(view! {
                <div class="field">
                    <label for="tenant">"Tenant"</label>
                    <p class="hint" id="tenant-hint">"Where it is run. Which actions there are, and who decides, may depend on it."</p>
                    <select id="tenant" name="tenant" aria-describedby="tenant-hint">{options}</select>
                </div>
            }.into_any())
        }
    }
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
        Answer::Preview(dry_run) => preview::preview(&dry_run.preview, None, false),
        Answer::Prompt(prompt) => preview::preview(&prompt.preview, None, false),
        Answer::Passed(_) | Answer::Replayed(_) | Answer::Waiting(_) => {
            view! { <p class="warning">"This was done before. Its receipt stands under Done."</p> }.into_any()
        }
    }
}

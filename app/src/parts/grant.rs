//! Standing grants: what can be let through beside a held call, what was, and what let a call through.

use std::sync::Arc;

use engine::grant::{Place, USUAL_USES};
use engine::{Allowed, GrantEnd, GrantLine, GrantOffer, GrantPart, Varies};
use leptos::prelude::*;
use model::{CallId, PersonId, Preview, Time};

use super::fold::fact;
use super::{alert, icon, text, time};
use crate::form::{self, Posted};
use crate::words;

/// The form that confirms a call and lets through more like it. Folded, it is one line.
pub(crate) fn offer(
    offer: &GrantOffer,
    (call, preview, token): (CallId, &Preview, String),
    list: &str,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let typed = |name: &str| posted.and_then(|posted| posted.has(name)).map(str::to_owned);
    let uses_fault = alert::of_field(posted, "/uses");
    let lasts_fault = alert::of_field(posted, "/lasts");
    let minutes = typed("minutes").unwrap_or_else(|| "60".to_owned());
    let lasts = form::MINUTES.map(|one| {
        view! { <option value=one.to_string() selected=minutes == one.to_string()>{lasting(one)}</option> }
    });
    view! {
        <details class="fold grant" id="grant" open=posted.is_some()>
            <summary><h2>{icon::clock()}"Allow more like this"</h2> <span>"for a while, without asking again"</span></summary>
            <form class="stack" method="post" action=form::GRANT autocomplete="off">
                // The first button of a form is pressed by Enter in a text box. This one does nothing.
                <button disabled hidden aria-hidden="true" tabindex="-1"></button>
                <input type="hidden" name="call" value=call.to_string()/>
                <input type="hidden" name="preview_version" value=preview.version.clone()/>
                <input type="hidden" name="view_token" value=token/>
                {(!list.is_empty()).then(|| view! { <input type="hidden" name="list" value=list.to_owned()/> })}
                <p>"Confirms this call. Then whatever " <strong>{text::line(&offer.agent)}</strong> " sends that is exactly like it goes through without asking, in any session:"</p>
                <dl class="facts">
                    {fact("Action", view! { <code>{text::line(&offer.action)}</code> })}
                    {fact("Sent", view! { <code>{text::line(&offer.method)} " " {text::line(&offer.host)} {text::line(&offer.path)}</code> })}
                    {offer.credential.as_ref().map(|name| fact("Credential", view! { <code>{text::line(name)}</code> }))}
                    {offer.tenant.as_ref().map(|name| fact("Tenant", text::line(name)))}
                </dl>
                {(!offer.parts.is_empty()).then(|| parts(&offer.parts, posted))}
                <div class="field-row">
                    <div class="field">
                        <label for="uses">"How many more"</label>
                        <input id="uses" name="uses" type="number" min="1" max="100" required value=typed("uses").unwrap_or_else(|| USUAL_USES.to_string())
                            aria-invalid=uses_fault.is_some().then_some("true") aria-describedby=alert::describing("uses", false, uses_fault.is_some())/>
                        {alert::beside("uses-wrong".to_owned(), uses_fault)}
                    </div>
                    <div class="field">
                        <label for="minutes">"For how long"</label>
                        <select id="minutes" name="minutes" aria-invalid=lasts_fault.is_some().then_some("true")
                            aria-describedby=alert::describing("minutes", false, lasts_fault.is_some())>{lasts}</select>
                        {alert::beside("minutes-wrong".to_owned(), lasts_fault)}
                    </div>
                </div>
                <p class="hint">"What waits for another reason, such as something that looks like a secret, still waits for you. Each use has its own receipt. A send that fails has used one up. You can revoke it at any time under Standing grants."</p>
                <button class="button-strong">"Allow these and confirm this call"</button>
            </form>
        </details>
    }
    .into_any()
}

/// What may vary, each with its present value.
fn parts(parts: &[GrantPart], posted: Option<&Arc<Posted>>) -> AnyView {
    let is_ticked =
        |key: &str| posted.is_some_and(|posted| form::ticked(&posted.fields).any(|ticked| ticked == key));
    let part = |(at, part): (usize, &GrantPart)| {
        let id = format!("vary-{at}");
        let now_id = format!("vary-{at}-now");
        let fills = part.fills.iter().filter(|_| !matches!(part.place, Place::Segment(_)));
        let fills: Vec<_> = fills
            .map(|text| view! { " Varies with it in the path: " <code>{text::line(text)}</code> "." })
            .collect();
        view! {
            <li>
                <input type="checkbox" id=id.clone() name="vary" value=part.key.clone() checked=is_ticked(&part.key) aria-describedby=now_id.clone()/>
                <div>
                    <label for=id>{name(&part.place)}</label>
                    <p class="hint" id=now_id>{now(&part.now)} {fills}</p>
                </div>
            </li>
        }
    };
    view! {
        <fieldset class="vary">
            <legend>"What may vary " <span class="optional">"what is not ticked stays as it is in this call"</span></legend>
            <ul>{parts.iter().enumerate().map(part).collect_view()}</ul>
        </fieldset>
    }
    .into_any()
}

fn now(value: &str) -> AnyView {
    if value.is_empty() {
        return "Now: nothing.".into_any();
    }
    view! { "Now: " <span class="now">{text::body(value)}</span> }.into_any()
}

/// What a part is called.
fn name(place: &Place) -> AnyView {
    match place {
        Place::Argument(name) => view! { "Argument " <code>{text::line(name)}</code> }.into_any(),
        Place::Segment(_) => "Part of the path, to any other id".into_any(),
        Place::Query => "The query".into_any(),
        Place::Header(name) => view! { "Header " <code>{text::line(name)}</code> }.into_any(),
        Place::Body => "The body, to any other".into_any(),
    }
}

fn lasting(minutes: u64) -> String {
    match (minutes / 60, minutes) {
        (0, minutes) => format!("{minutes} minutes"),
        (1, _) => "an hour".to_owned(),
        (hours, _) => format!("{hours} hours"),
    }
}

/// The way to the standing grants that live, where there are any.
pub(crate) fn link(live: u64) -> Option<AnyView> {
    let words = match live {
        0 => return None,
        1 => "1 standing grant".to_owned(),
        live => format!("{} standing grants", words::count(live)),
    };
    Some(view! { <p class="grants-live"><a href="/grants">{icon::clock()}{words}</a></p> }.into_any())
}

/// What stands on the page of a call that a grant was made with, or that one let through.
pub(crate) fn note(grant: &GrantLine, call: CallId, me: PersonId, now: Time) -> AnyView {
    let way = view! { " " <a href="/grants">"Standing grants"</a> };
    if grant.call == call {
        let stands = match grant.ended {
            None => view! { {used(grant)} ", lapses " {time::ahead(grant.expires_at, now)} "." }.into_any(),
            Some((at, how)) => {
                view! { {used(grant)} ". It ended " {time::ago(at, now)} ": " {ending(how)} "." }.into_any()
            }
        };
        return view! { <p class="granted">{icon::clock()}"More like it may go through without asking: " {stands} {way}</p> }.into_any();
    }
    view! {
        <p class="granted">{icon::clock()}"Nobody was asked for this call: a standing grant of " {who(grant.grantor, &grant.grantor_name, me)}
            " let it through, made " {time::ago(grant.made_at, now)} "." {way}</p>
    }
    .into_any()
}

/// How many uses were taken: “2 of 5 used”.
pub(crate) fn used(grant: &GrantLine) -> String {
    format!("{} of {} used", grant.used, grant.uses)
}

/// A person, by name.
pub(crate) fn who(id: PersonId, name: &str, me: PersonId) -> AnyView {
    if id == me { "you".into_any() } else { text::line(name) }
}

/// How a grant ended, as the end of a sentence.
pub(crate) const fn ending(how: GrantEnd) -> &'static str {
    match how {
        GrantEnd::UsedUp => "every use was taken",
        GrantEnd::Lapsed => "its time was over",
        GrantEnd::Revoked => "it was revoked",
        GrantEnd::Undone => "the call it was made with was taken back",
        GrantEnd::Grantor => "who made it may decide such calls no more",
        GrantEnd::Agent => "its agent may not act any more",
        GrantEnd::Changed => "the action or its credential changed in the catalogue",
    }
}

/// What a grant lets through, in words.
pub(crate) fn allowed(grant: &GrantLine) -> AnyView {
    let action = view! { {text::line(&grant.title)} " " <code>{text::line(&grant.action)}</code> };
    let mut rows = vec![fact("Agent", text::line(&grant.agent_name)), fact("Action", action)];
    rows.extend(
        grant.credential.as_ref().map(|name| fact("Credential", view! { <code>{text::line(name)}</code> })),
    );
    let Some(allowed) = &grant.allowed else {
        let sent = view! { <code>{text::line(&grant.method)} " " {text::line(&grant.host)}</code> };
        rows.push(fact("Sent", sent));
        return view! { <dl class="facts">{rows}</dl> }.into_any();
    };
    rows.push(fact("Sent", sent(allowed)));
    rows.extend(allowed.tenant.as_ref().map(|name| fact("Tenant", text::line(name))));
    for (place, value, varies) in &allowed.parts {
        let value = match varies {
            Varies::Not if value.is_empty() => "nothing".into_any(),
            Varies::Not => text::body(value),
            Varies::AsId | Varies::Freely => any("anything"),
        };
        rows.push(view! { <dt>{label(place)}</dt><dd>{value}</dd> }.into_any());
    }
    view! { <dl class="facts">{rows}</dl> }.into_any()
}

fn label(place: &Place) -> AnyView {
    match place {
        Place::Argument(name) => view! { <code>{text::line(name)}</code> }.into_any(),
        Place::Segment(_) => "Path".into_any(),
        Place::Query => "Query".into_any(),
        Place::Header(name) => view! { "Header " <code>{text::line(name)}</code> }.into_any(),
        Place::Body => "Body".into_any(),
    }
}

/// Method and address, with what may vary in it.
fn sent(allowed: &Allowed) -> AnyView {
    let segment = |(at, (text, varies)): (usize, &(String, Varies))| {
        // An empty text would be set out as a blank.
        let slash = (at > 0).then_some("/");
        let text = match varies {
            Varies::Not if text.is_empty() => ().into_any(),
            Varies::Not => text::line(text),
            Varies::AsId => any("any id"),
            Varies::Freely => any("anything"),
        };
        view! { {slash}{text} }
    };
    let path: Vec<_> = allowed.path.iter().enumerate().map(segment).collect();
    view! { <code>{text::line(&allowed.method)} " " {text::line(&allowed.origin)}{path}</code> }.into_any()
}

/// What stands for whatever comes.
fn any(words: &'static str) -> AnyView {
    view! { <em class="any">{words}</em> }.into_any()
}

//! What one is called, and where one reads times.

use std::collections::BTreeMap;

use engine::time_zone;
use leptos::prelude::*;
use model::Person;

use crate::form;
use crate::parts::alert;
use crate::visit::Visit;

/// The form for name and time zone.
pub(super) fn you(visit: &Visit, person: &Person) -> AnyView {
    let posted = visit.posted(form::ACCOUNT);
    let typed = |name: &str| posted.as_ref().and_then(|posted| posted.has(name)).map(str::to_owned);
    let name = typed("name").unwrap_or_else(|| person.name.clone());
    let zone = typed("time_zone").or_else(|| person.time_zone.clone()).unwrap_or_default();
    let fault = alert::of_field(posted.as_ref(), "/name");
    let no_zone = alert::of_field(posted.as_ref(), "/time_zone");
    view! {
        <section class="circle" aria-labelledby="you">
            <h2 id="you">"You"</h2>
            {alert::alert(posted.as_ref())}
            <form class="stack" method="post" action=form::ACCOUNT novalidate>
                <div class="field">
                    <label for="name">"Name"</label>
                    <p class="hint" id="name-hint">"As everybody here sees it."</p>
                    {alert::beside("name-wrong".to_owned(), fault.clone())}
                    <input id="name" name="name" type="text" autocomplete="name" maxlength="200" value=name autofocus=fault.is_some()
                        aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::described("name", fault.is_some())/>
                </div>
                <div class="field">
                    <label for="time-zone">"Time zone"</label>
                    <p class="hint" id="time-zone-hint">"The pages show times in it. Programs are told UTC."</p>
                    {alert::beside("time-zone-wrong".to_owned(), no_zone.clone())}
                    <select id="time-zone" name="time_zone" class="short" autofocus=no_zone.is_some()
                        aria-invalid=no_zone.is_some().then_some("true") aria-describedby=alert::described("time-zone", no_zone.is_some())>
                        <option value="" selected=zone.is_empty()>"UTC"</option>
                        {zones(&zone)}
                    </select>
                </div>
                <button class="button-strong">"Save"</button>
            </form>
        </section>
    }
    .into_any()
}

/// Every zone, by region. Without a `value` an option's text counts, which halves the list.
fn zones(chosen: &str) -> Vec<AnyView> {
    let mut regions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (region, name) in time_zone::all() {
        regions.entry(region).or_default().push(name);
    }
    let option = |name: &'static str| view! { <option selected=name == chosen>{name}</option> };
    regions
        .into_iter()
        .map(|(region, names)| {
            let options: Vec<_> = names.into_iter().map(option).collect();
            view! { <optgroup label=region>{options}</optgroup> }.into_any()
        })
        .collect()
}

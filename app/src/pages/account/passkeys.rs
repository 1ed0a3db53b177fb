//! One's own passkeys, and proving anew who one is before they are changed.

use std::sync::Arc;

use engine::account::Ways;
use engine::account_event::AccountEvent;
use engine::passkey::OwnPasskey;
use leptos::prelude::*;
use model::{Refusal, Time};

use super::password_field;
use crate::form::{self, Posted};
use crate::parts::browser::browser;
use crate::parts::{alert, passkey, text, time};
use crate::visit::Visit;
use crate::words;

/// What is told of one's own passkeys.
pub(super) struct Passkeys {
    own: Vec<OwnPasskey>,
    /// Until when they may be changed.
    proved_until: Option<Time>,
    /// Whether there is a password to prove it with.
    has_password: bool,
    events: Vec<AccountEvent>,
}

impl Passkeys {
    pub(super) async fn of(visit: &Visit, me: &engine::PersonActor, ways: &Ways) -> Result<Self, Refusal> {
        let engine = &visit.engine;
        let proved_until = match visit.session {
            Some(session) => engine.proved_until(session).await?,
            None => None,
        };
        Ok(Self {
            own: engine.own_passkeys(me).await?,
            proved_until,
            has_password: ways.has_password && engine.catalogue().sign_in.passwords,
            events: engine.own_account_events(me).await?,
        })
    }

    /// One's own passkeys, with what there is to do with them. `here` is what this browser calls itself.
    pub(super) fn show(&self, visit: &Visit, here: &str, now: Time) -> AnyView {
        let posted = visit.posted(form::PASSKEY).or_else(|| visit.posted(form::PROVE));
        let lines: Vec<_> = self.own.iter().map(|one| self.line(one, now)).collect();
        let list = if lines.is_empty() {
            view! { <p class="hint">"You have no passkey."</p> }.into_any()
        } else {
            view! { <ul class="members" aria-label="Passkeys">{lines}</ul> }.into_any()
        };
        let act = match (visit.engine.party(), self.proved_until) {
            (Err(why), _) => passkey::impossible(why),
            (Ok(party), Some(until)) => view! {
                {add(posted.as_ref(), here, until, now)}
                {passkey::instead("Adding a passkey", &party, "/account")}
                {passkey::script(visit, &party)}
            }
            .into_any(),
            (Ok(party), None) => view! {
                {self.prove(posted.as_ref())}
                {passkey::instead("Adding a passkey", &party, "/account")}
                {passkey::script(visit, &party)}
            }
            .into_any(),
        };
        view! {
            <section class="circle" id="passkeys" aria-labelledby="passkeys-head">
                <h2 id="passkeys-head">"Passkeys"</h2>
                {alert::alert(posted.as_ref())}
                <p class="hint">"Your fingerprint, your face or a security key, to sign in with. Some calls are confirmed with one alone."</p>
                {list}
                {act}
                {self.happened(now)}
            </section>
        }
        .into_any()
    }

    fn line(&self, one: &OwnPasskey, now: Time) -> AnyView {
        let id = one.id.to_string();
        let which = format!(" {}", text::plain(&one.name));
        let used = one.used_at.map_or_else(
            || "never used".into_any(),
            |at| view! { "last used " {time::ago(at, now)} }.into_any(),
        );
        let elsewhere = one.made_for.as_ref().map(|name| {
            view! { <br/><span class="bad">"It was made for " {text::line(name)} " and cannot be used here."</span> }
        });
        let field = format!("name-{id}");
        let remove = if self.proved_until.is_some() {
            view! {
                <form method="post" action=form::PASSKEY>
                    <input type="hidden" name="act" value="remove"/>
                    <input type="hidden" name="which" value=id.clone()/>
                    <p>"It is taken no more, at once and for ever. Nobody is signed out."</p>
                    <button class="button-final">"Remove it"<span class="unseen">{which.clone()}</span></button>
                </form>
            }
            .into_any()
        } else {
            view! { <p>"First prove that it is you, below."</p> }.into_any()
        };
        view! {
            <li class="member member-token">
                <span><strong>{text::line(&one.name)}</strong><br/>
                    <span class="hint">"added " {time::ago(one.created_at, now)} ", " {used}</span> {elsewhere}</span>
                <div class="passkey-acts">
                    <details class="away">
                        <summary>"Rename"<span class="unseen">{which.clone()}</span></summary>
                        <form method="post" action=form::PASSKEY autocomplete="off">
                            <input type="hidden" name="act" value="rename"/>
                            <input type="hidden" name="which" value=id.clone()/>
                            <div class="field">
                                <label for=field.clone()>"New name"</label>
                                <input id=field.clone() name="name" type="text" class="short" maxlength="60" required value=one.name.clone()/>
                            </div>
                            <button>"Rename"<span class="unseen">{which.clone()}</span></button>
                        </form>
                    </details>
                    <details class="away">
                        <summary>"Remove"<span class="unseen">{which.clone()}</span></summary>
                        {remove}
                    </details>
                </div>
            </li>
        }
        .into_any()
    }

    fn prove(&self, posted: Option<&Arc<Posted>>) -> AnyView {
        let has_one = self.own.iter().any(|one| one.made_for.is_none());
        let with_one = has_one.then(|| {
            view! {
                <form class="stack passkey-act" method="post" action=form::PROVE>
                    {passkey::answer()}
                    <button data-passkey="prove">"Prove it with a passkey"</button>
                    {passkey::says()}
                </form>
            }
        });
        let with_password = self.has_password.then(|| {
            view! {
                <form class="stack" method="post" action=form::PROVE aria-labelledby="prove" novalidate>
                    {password_field("proof", "Your password", "current-password", None, posted)}
                    <button class="button-strong">"Prove it"</button>
                </form>
            }
        });
        // A fresh sign-in proves it as well, and is the one way for whoever has neither.
        let anew = (!self.has_password)
            .then(|| view! { <p class="hint">"To sign out and sign in again proves it too."</p> });
        view! {
            <h3 id="prove">"First prove that it is you"</h3>
            <p class="hint">"Adding or removing a passkey takes that, and it is good for five minutes."</p>
            {with_password}
            {with_one}
            {anew}
        }
        .into_any()
    }

    fn happened(&self, now: Time) -> Option<AnyView> {
        let line = |event: &AccountEvent| {
            let about = event.about.as_ref().map(|about| view! { " " {text::line(about)} });
            view! { <li>{words::account_event(event.r#type)} {about} " " {time::ago(event.at, now)}</li> }
        };
        let lines: Vec<_> = self.events.iter().map(line).collect();
        (!lines.is_empty()).then(|| {
            view! {
                <details class="away">
                    <summary>"What happened to your passkeys"</summary>
                    <ul class="hint">{lines}</ul>
                </details>
            }
            .into_any()
        })
    }
}

fn add(posted: Option<&Arc<Posted>>, here: &str, until: Time, now: Time) -> AnyView {
    let fault = alert::of_field(posted, "/name");
    let typed = posted.filter(|posted| posted.typed("act") == "add").map(|posted| posted.typed("name"));
    let name = typed.unwrap_or_else(|| text::plain(&browser(here)));
    view! {
        <form class="stack passkey-act" method="post" action=form::PASSKEY autocomplete="off" novalidate>
            <input type="hidden" name="act" value="add"/>
            {passkey::answer()}
            <div class="field">
                <label for="passkey-name">"Name of a new passkey"</label>
                <p class="hint" id="passkey-name-hint">"So that you know it again: the device, or the key."</p>
                {alert::beside("passkey-name-wrong".to_owned(), fault.clone())}
                <input id="passkey-name" name="name" type="text" class="short" maxlength="60" value=name autofocus=fault.is_some()
                    aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::described("passkey-name", fault.is_some())/>
            </div>
            <button class="button-strong" data-passkey="add">"Add a passkey"</button>
            {passkey::says()}
            <p class="hint">"You have proved who you are; that lapses " {time::ahead(until, now)} "."</p>
        </form>
    }
    .into_any()
}

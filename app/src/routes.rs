//! Which page is where.

use leptos::prelude::*;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

use crate::pages;

/// Every page.
#[component]
pub(crate) fn App() -> impl IntoView {
    view! {
        <Router>
            <Routes fallback=pages::not_found::NotFound>
                <Route path=path!("/") view=pages::home::Home/>
                <Route path=path!("/sign-in") view=pages::sign_in::SignIn/>
                <Route path=path!("/inbox") view=pages::inbox::Inbox/>
                <Route path=path!("/inbox/selected") view=pages::selected::Selected/>
                <Route path=path!("/inbox/:call") view=pages::item::ItemPage/>
                <Route path=path!("/inbox/:call/override") view=pages::overriding::Override/>
                <Route path=path!("/calls/held") view=pages::held_of_others::HeldOfOthers/>
                <Route path=path!("/done") view=pages::done::DonePage/>
                <Route path=path!("/done/:receipt") view=pages::receipt::ReceiptPage/>
                <Route path=path!("/calls") view=pages::calls::Calls/>
                <Route path=path!("/grants") view=pages::grants::Grants/>
                <Route path=path!("/run") view=pages::run::Run/>
                <Route path=path!("/run/:action") view=pages::run_action::RunAction/>
                <Route path=path!("/people") view=pages::people::People/>
                <Route path=path!("/people/tenants") view=pages::circles::Tenants/>
                <Route path=path!("/people/groups") view=pages::circles::Groups/>
                <Route path=path!("/people/:person") view=pages::person::PersonPage/>
                <Route path=path!("/people/:person/receipts") view=pages::receipts_of::ReceiptsOf/>
                <Route path=path!("/invitation/:link") view=pages::join::Join/>
                <Route path=path!("/set-up/:link") view=pages::join::SetUp/>
                <Route path=path!("/account") view=pages::account::Account/>
                <Route path=path!("/agents") view=pages::agents::Agents/>
                <Route path=path!("/agents/:agent") view=pages::agent::AgentOf/>
                <Route path=path!("/actions") view=pages::actions::Actions/>
                <Route path=path!("/credentials") view=pages::credentials::Credentials/>
                <Route path=path!("/account/notices") view=pages::notices::Notices/>
                <Route path=path!("/journal") view=pages::journal::Journal/>
            </Routes>
        </Router>
    }
}

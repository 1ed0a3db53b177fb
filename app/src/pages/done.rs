//! The Done tab: receipts, newest first.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::receipt_filters::ReceiptList;
use crate::visit::Reply;

/// What stands where nothing has been sent yet, of anybody's and of one's own.
const NONE: &str = "Nothing has been sent yet. Once a call is confirmed and sent, its receipt stands here: when, where to, \
                    what was answered, and who approved it.";
const NONE_OF_YOURS: &str = "Nothing of yours has been sent yet. Once a call of yours or your agents' is confirmed and sent, its receipt \
                             stands here. Receipts of what you confirmed for others stand with them.";

/// The Done tab.
#[component]
pub(crate) fn DonePage() -> impl IntoView {
    let query = use_query_map().get_untracked();
    let reply = use_context::<Reply>();
    page(Tab::Done, move |visit, me| async move {
        let lead = if me.person().is_operator() {
            "What was sent, for everybody. Never what was in it."
        } else {
            "What was sent on your behalf. Never what was in it."
        };
        let none = if me.person().is_operator() { NONE } else { NONE_OF_YOURS };
        let list = ReceiptList {
            engine: &visit.engine,
            me: &me,
            query: &query,
            reply,
            path: "/done".to_owned(),
            of: None,
        };
        let body = view! {
            <h1>"Done"</h1>
            <p class="lead">{lead}</p>
            {list.view(none).await?}
        };
        Ok(Sheet::new("Done", Shape::Wide, body))
    })
}

//! Makes a page of an address.

use std::future::Future;

use futures::StreamExt as _;
use leptos::prelude::*;
use leptos::reactive::computed::ScopedFuture;
use leptos::reactive::owner::Sandboxed;
use leptos_router::location::RequestUrl;
use leptos_router::{PathSegment, RouteList};

use crate::document::document;
use crate::routes::App;
use crate::visit::{Assets, Reply, Visit};

/// A page, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// A document.
    Html {
        /// The HTTP status.
        status: u16,
        /// The whole document.
        html: String,
    },
    /// Go there instead: path and query, same origin.
    Redirect(String),
}

/// Renders the page at the visit's address, complete: nothing is streamed, so that it reads the same without scripts.
pub async fn render(visit: Visit) -> Page {
    let reply = Reply::default();
    let assets = visit.assets;
    let streamed = in_owner(Owner::new_root(None), {
        let reply = reply.clone();
        move || {
            provide_context(RequestUrl::new(&visit.address));
            provide_context(reply);
            provide_context(visit.zone());
            provide_context(visit);
            view! { <App/> }.to_html_stream_in_order().collect::<String>()
        }
    })
    .await;
    let parts = reply.take();
    match parts.redirect {
        Some(to) => Page::Redirect(to),
        None => Page::Html {
            status: if parts.status == 0 { 200 } else { parts.status },
            html: document(&parts.title, parts.refresh, assets, parts.body.unwrap_or(streamed)),
        },
    }
}

/// Every address that has a page, its variable parts in braces: `/people/{person}`.
#[must_use]
pub fn addresses() -> Vec<String> {
    let written = |segment: &PathSegment| match segment {
        PathSegment::Param(name) => format!("{{{name}}}"),
        other => other.as_raw_str().trim_matches('/').to_owned(),
    };
    let address = |path: &[PathSegment]| {
        let segments: Vec<_> = path.iter().map(written).filter(|segment| !segment.is_empty()).collect();
        format!("/{}", segments.join("/"))
    };
    let list = Owner::new_root(None).with(|| {
        provide_context(RequestUrl::new("/"));
        RouteList::generate(|| view! { <App/> })
    });
    let listed = list.unwrap_or_default().into_inner();
    listed.iter().map(|one| address(one.path())).collect()
}

/// Runs something with an owner of its own for its contexts and values, and cleans up after it.
pub(crate) async fn in_owner<T, F: Future<Output = T> + Send>(
    owner: Owner,
    run: impl FnOnce() -> F + Send,
) -> T {
    Sandboxed::new(async move {
        let outcome = owner.with(|| ScopedFuture::new(run())).await;
        owner.unset_with_forced_cleanup();
        outcome
    })
    .await
}

/// A page that only says something, for where there is no visit: no engine is asked.
pub fn notice(title: &str, detail: &str, assets: Assets) -> String {
    let body = view! {
        <main id="main" class="alone">
            <h1>{title.to_owned()}</h1>
            <p class="lead">{detail.to_owned()}</p>
            <p><a class="button" href="/inbox">"To the inbox"</a></p>
        </main>
    };
    document(title, None, assets, body.to_html())
}

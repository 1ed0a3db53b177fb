//! Older and newer, by key.

use leptos::prelude::*;
use leptos_router::params::ParamsMap;

use super::link::with_query;

/// Cursors of earlier pages that an address remembers; beyond that, “Newer” goes to the newest page.
const REMEMBERED: usize = 8;

/// Links to the pages before and after this one. `kept` are the filters, which stay in the address.
pub(crate) fn pager(
    path: &str,
    query: &ParamsMap,
    kept: &[(&'static str, String)],
    next: Option<&str>,
) -> Option<AnyView> {
    let cursor = query.get("cursor").unwrap_or_default();
    let before = query.get("before").unwrap_or_default();
    let address = |cursor: &str, before: &str| {
        let kept = kept.iter().map(|(name, value)| (*name, value.as_str()));
        with_query(path, kept.chain([("cursor", cursor), ("before", before)]))
    };
    let newer = (!cursor.is_empty()).then(|| {
        let mut trail: Vec<&str> = before.split(',').filter(|cursor| !cursor.is_empty()).collect();
        let last = trail.pop().filter(|last| *last != FIRST).unwrap_or_default();
        let trail = if last.is_empty() { String::new() } else { trail.join(",") };
        address(last, &trail)
    });
    let older = next.map(|next| {
        let here = if cursor.is_empty() { FIRST } else { cursor.as_str() };
        let trail: Vec<&str> = before.split(',').filter(|cursor| !cursor.is_empty()).chain([here]).collect();
        let from = trail.len().saturating_sub(REMEMBERED);
        address(next, &trail[from..].join(","))
    });
    if newer.is_none() && older.is_none() {
        return None;
    }
    Some(
        view! {
            <nav class="pager" aria-label="Pages">
                {newer.map(|to| view! { <a class="button" rel="prev" href=to>"← Newer"</a> })}
                {older.map(|to| view! { <a class="button" rel="next" href=to>"Older →"</a> })}
            </nav>
        }
        .into_any(),
    )
}

/// Stands for the newest page in the trail.
const FIRST: &str = "-";

/// The same of a list that knows both ways by itself.
pub(crate) fn turns(
    path: &str,
    kept: &[(&'static str, String)],
    newer: Option<&str>,
    older: Option<&str>,
) -> Option<AnyView> {
    let address = |cursor: &str| {
        let kept = kept.iter().map(|(name, value)| (*name, value.as_str()));
        with_query(path, kept.chain([("cursor", cursor)]))
    };
    let (newer, older) = (newer.map(address), older.map(address));
    (newer.is_some() || older.is_some()).then(|| {
        view! {
            <nav class="pager" aria-label="Pages">
                {newer.map(|to| view! { <a class="button" rel="prev" href=to>"← Newer"</a> })}
                {older.map(|to| view! { <a class="button" rel="next" href=to>"Older →"</a> })}
            </nav>
        }
        .into_any()
    })
}

//! The HTML document around a page.

use leptos::prelude::*;

use crate::visit::Assets;

/// The whole document: head and body. No script or style stands in it, only their addresses.
pub(crate) fn document(title: &str, refresh: Option<u32>, assets: Assets, body: String) -> String {
    let title = if title.is_empty() { "Countersign".to_owned() } else { format!("{title} · Countersign") };
    let view = view! {
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <title>{title}</title>
                <link rel="icon" type="image/svg+xml" href=assets.icon/>
                <link rel="stylesheet" href=assets.style/>
                <script type="module" src=assets.script></script>
                {refresh.map(|seconds| view! {
                    <noscript><meta http-equiv="refresh" content=seconds.to_string()/></noscript>
                })}
            </head>
            <body inner_html=body></body>
        </html>
    };
    format!("<!DOCTYPE html>{}", view.to_html())
}

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
                <link rel="manifest" href="/manifest.webmanifest"/>
                <link rel="stylesheet" href=assets.style/>
                <script type="module" src=assets.script></script>
                {refresh.map(|seconds| view! {
                    <noscript><meta http-equiv="refresh" content=seconds.to_string()/></noscript>
                })}
            </head>
            <body inner_html=body></body>
        </html>
    };
    format!("<!DOCTYPE html>{}", unmarked(&view.to_html()))
}

/// The same without the marks that the framework leaves for a browser that would take the page over. None does, and
/// inside a title or a text box they would be read as text. What others wrote cannot hold one: `<` is escaped there.
fn unmarked(html: &str) -> String {
    html.replace("<!>", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_framework_is_left_and_nothing_else_is_lost() {
        let assets =
            Assets { style: "/s.css", script: "/s.js", icon: "/i.svg", notices: "/n.js", passkeys: "/p.js" };
        let hostile = "<!></title><script>x</script>";
        let body = view! { <p title=hostile>{hostile}<textarea inner_html=crate::parts::text::content(hostile)></textarea></p> }.to_html();
        let html = document(hostile, Some(1), assets, body);
        assert!(!html.contains("<!>") && !html.contains("<script>"), "{html}");
        assert_eq!(html.matches("&lt;!").count(), 4, "{html}");
        assert!(html.contains(r#"<noscript><meta http-equiv="refresh" content="1"></noscript>"#), "{html}");
    }
}

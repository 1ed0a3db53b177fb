//! What exactly is sent: method, host, path, query, headers and body; whole, wrapped, never cut.

use leptos::prelude::*;
use model::indent::indent;
use model::preview::{PreviewHeader, PreviewRequest};
use model::visible::host_hint;

use super::preview::changed;
use super::text;
use crate::words;

/// What exactly is sent. `shown` is what stood on the screen before; `of` says which of several it is.
pub(crate) fn payload(request: &PreviewRequest, shown: Option<&PreviewRequest>, of: &str) -> AnyView {
    let address_changed = shown.is_some_and(|shown| {
        (&shown.method, &shown.host, &shown.path, &shown.query)
            != (&request.method, &request.host, &request.path, &request.query)
    });
    let with = match &request.credential {
        Some(name) => view! { <span>"with the credential “" {text::line(name)} "”"</span> }.into_any(),
        None => view! { <span>"without a credential"</span> }.into_any(),
    };
    view! {
        <section class="sheet payload" aria-label=format!("What is sent{of}")>
            <h2 class="sheet-head">"What is sent, whole" {with}</h2>
            <p class="request">
                {changed(address_changed)}
                <b class="method">{text::line(&request.method)}</b> " "
                <span class="host">{text::line(&request.host)}</span><span>{text::line(&request.path)}</span>
                {(!request.query.is_empty()).then(|| view! { <span class="query">"?" {text::line(&request.query)}</span> })}
            </p>
            {host_hint(&request.host).map(|hint| view! { <p class="warning">{hint}</p> })}
            {headers(&request.headers, shown)}
            {body(request, shown)}
        </section>
    }
    .into_any()
}

fn headers(headers: &[PreviewHeader], shown: Option<&PreviewRequest>) -> Option<AnyView> {
    if headers.is_empty() {
        return None;
    }
    let lines: Vec<_> = headers
        .iter()
        .map(|header| {
            let is_new = shown.is_some_and(|shown| !shown.headers.contains(header));
            view! {
                <div><dt>{text::line(&header.name)} ":"</dt> " " <dd>{changed(is_new)}{text::line(&header.value)}</dd></div>
            }
        })
        .collect();
    Some(view! { <dl class="headers" aria-label="Headers">{lines}</dl> }.into_any())
}

fn body(request: &PreviewRequest, shown: Option<&PreviewRequest>) -> AnyView {
    let Some(body) = &request.body else {
        let has_bytes = request.headers.iter().any(|header| header.name.eq_ignore_ascii_case("content-type"));
        let words = if has_bytes { "No body that is text." } else { "No body." };
        return view! { <p class="no-body">{words}</p> }.into_any();
    };
    let read = indent(body);
    let note = if read == body.as_str() {
        "shown as it is sent"
    } else {
        "set out in lines for reading; nothing else is changed"
    };
    let content = match shown.and_then(|shown| shown.body.as_deref()) {
        Some(old) if old != body => marked(&read, &indent(old)),
        _ => text::body(&read),
    };
    view! {
        <pre class="body" tabindex="0" aria-label="Body"><code>{content}</code></pre>
        <p class="size">{words::bytes(body.len())} ", " {note}</p>
    }
    .into_any()
}

/// The text with the lines marked that stand between what both versions begin and end with.
fn marked(new: &str, old: &str) -> AnyView {
    let (before, middle, after) = differing(new, old);
    view! {
        {text::body(before)}
        <mark class="changed-lines"><span class="changed">"changed"</span>{text::body(middle)}</mark>
        {text::body(after)}
    }
    .into_any()
}

/// The lines both begin with, the lines of `new` that differ, and the lines both end with.
fn differing<'a>(new: &'a str, old: &str) -> (&'a str, &'a str, &'a str) {
    let lines = |text: &str| text.split_inclusive('\n').map(str::len).collect::<Vec<_>>();
    let (new_lines, old_lines): (Vec<&str>, Vec<&str>) =
        (new.split_inclusive('\n').collect(), old.split_inclusive('\n').collect());
    let same = new_lines.iter().zip(&old_lines).take_while(|(a, b)| a == b).count();
    let most = new_lines.len().min(old_lines.len()) - same;
    let same_end =
        new_lines.iter().rev().zip(old_lines.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let sizes = lines(new);
    let from: usize = sizes.iter().take(same).sum();
    let to = new.len() - sizes.iter().rev().take(same_end).sum::<usize>();
    (&new[..from], &new[from..to], &new[to..])
}

#[cfg(test)]
mod tests {
    use super::differing;

    #[test]
    fn the_lines_that_differ() {
        assert_eq!(differing("a\nb\nc", "a\nx\nc"), ("a\n", "b\n", "c"));
        assert_eq!(differing("a\nb\nb\nc", "a\nb\nc"), ("a\nb\n", "b\n", "c"));
        assert_eq!(differing("same", "same"), ("same", "", ""));
        assert_eq!(differing("", "gone"), ("", "", ""));
        assert_eq!(differing("new", ""), ("", "new", ""));
    }
}

//! What the document says in words, as short plain text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Enough of a text to cut it from; the rest is never looked at.
const LOOKED_AT: usize = 8_000;

/// Markdown as plain text on one line, of at most so many characters, cut behind a sentence or between words.
pub(in crate::import) fn plain(markdown: &str, most: usize) -> String {
    let head: String = markdown.chars().take(LOOKED_AT).collect();
    cut(&one_line(&without_markup(&head)), most)
}

/// The text of a field that holds Markdown; `None`: there is none.
pub(in crate::import) fn field(node: &serde_json::Value, field: &str, most: usize) -> Option<String> {
    let text = plain(node.get(field)?.as_str()?, most);
    (!text.is_empty()).then_some(text)
}

/// A text for a title: without its full stop, and without what a template would read.
pub(in crate::import) fn title(text: &str) -> String {
    text.trim_end_matches(['.', ':', ' ']).replace('{', "(").replace('}', ")")
}

/// A text as a sentence.
pub(in crate::import) fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

fn without_markup(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut text = String::new();
    let mut silent = 0_usize;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_)) => silent += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Table) => silent = silent.saturating_sub(1),
            Event::Text(words) | Event::Code(words) if silent == 0 => text.push_str(&words),
            Event::End(TagEnd::Heading(_)) => end_heading(&mut text),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph | TagEnd::Item) => {
                text.push(' ');
            }
            Event::InlineHtml(tag) if is_break(&tag) => text.push(' '),
            Event::Html(tag) if silent == 0 => text.push_str(&without_tags(&tag)),
            _ => {}
        }
    }
    text
}

/// A heading reads like a sentence of its own.
fn end_heading(text: &mut String) {
    if !text.trim_end().ends_with(['.', ':', '!', '?']) && !text.trim().is_empty() {
        text.push('.');
    }
    text.push(' ');
}

fn is_break(tag: &str) -> bool {
    ["<br", "<p", "</p", "<li", "</li"].iter().any(|start| tag.to_ascii_lowercase().starts_with(start))
}

/// The text between tags: many documents write HTML where Markdown is meant.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut within = false;
    for letter in html.chars() {
        match letter {
            '<' => within = true,
            '>' if within => {
                within = false;
                text.push(' ');
            }
            other if !within => text.push(other),
            _ => {}
        }
    }
    text
}

/// Runs of white space as one space, and no characters that cannot be seen.
fn one_line(text: &str) -> String {
    let seen: String =
        text.chars().map(|c| if c.is_whitespace() || c.is_control() { ' ' } else { c }).collect();
    let seen: String = seen.chars().filter(|c| !is_invisible(*c)).collect();
    seen.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Characters without a shape of their own that can turn or hide what stands around them.
pub(in crate::import) const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let head = &text[..end];
    let sentence = head.rfind(". ").map(|at| at + 1).filter(|at| *at > end / 3);
    if let Some(at) = sentence {
        return head[..at].to_owned();
    }
    let word = head.rfind(' ').filter(|at| *at > end / 2).unwrap_or(head.len());
    let kept = head[..word].trim_end_matches([' ', ',', ';', ':', '(']);
    let shorter = kept.char_indices().nth(most - 1).map_or(kept, |(at, _)| &kept[..at]);
    format!("{shorter}…")
}

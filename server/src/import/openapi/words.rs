//! Names: split into words, and put together again.

use std::collections::HashSet;

/// The longest name of an action.
const LONGEST: usize = 64;

/// The words of a name in lower case: `listOAuthTokens-v2` has list, oauth, tokens and v2.
pub(in crate::import) fn words(name: &str) -> Vec<String> {
    let name = name.replace("OAuth", "Oauth");
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| letters.get(index)).copied().unwrap_or('_');
        let after = letters.get(index + 1).copied().unwrap_or('_');
        let begins = letter.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
        if begins || !letter.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The words as a name of the catalogue: `[a-z][a-z0-9_]*`, cut between words. `None`: nothing is left.
pub(in crate::import) fn name(words: &[String]) -> Option<String> {
    let mut name = String::new();
    for word in words {
        let joint = usize::from(!name.is_empty());
        if name.len() + joint + word.len() > LONGEST {
            break;
        }
        if joint == 1 {
            name.push('_');
        }
        name.push_str(word);
    }
    if name.is_empty() {
        name = words.first()?.chars().take(LONGEST).collect();
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name = format!("call_{name}").chars().take(LONGEST).collect();
    }
    Some(name)
}

/// A name as a label for people: `amount_minor` becomes “Amount minor”.
pub(in crate::import) fn label(name: &str) -> String {
    let spoken = words(name).join(" ");
    let mut letters = spoken.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "Value".to_owned(),
    }
}

/// The wanted name, or the first of its numbered variants that is free.
pub(in crate::import) fn free(wanted: &str, taken: &HashSet<String>) -> String {
    let numbered = |number: usize| {
        let suffix = format!("_{number}");
        let kept: String = wanted.chars().take(LONGEST - suffix.len()).collect();
        kept.trim_end_matches('_').to_owned() + &suffix
    };
    // One more variant than names that are taken: one of them is free.
    let variants = (2..taken.len() + 3).map(numbered);
    std::iter::once(wanted.to_owned()).chain(variants).find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Whether a name can stand behind `input.` in a template.
pub(in crate::import) fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

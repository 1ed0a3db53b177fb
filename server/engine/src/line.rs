//! The title of a preview, sealed by itself: a list of calls names each without opening what is in it.

use model::CallId;

use crate::seal::{Purpose, Sealer};

/// The most characters of a title that a list shows. The call's own page shows it whole.
const LONGEST: usize = 300;

/// A preview's title as lists show it, sealed for its call.
pub(crate) fn sealed_title(sealer: &Sealer, id: CallId, title: &str) -> Vec<u8> {
    sealer.seal(Purpose::Title, &id.to_string(), shortened(title).as_bytes())
}

/// The title that was sealed; `None`: it cannot be read.
pub(crate) fn open_title(sealer: &Sealer, id: CallId, blob: &[u8]) -> Option<String> {
    String::from_utf8(sealer.open(Purpose::Title, &id.to_string(), blob).ok()?).ok()
}

fn shortened(title: &str) -> String {
    match title.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_cut_between_characters_and_says_so() {
        let longest = "ä".repeat(LONGEST);
        assert_eq!(shortened(&longest), longest);
        assert_eq!(shortened(&format!("{longest}x")), format!("{longest}…"));
    }
}

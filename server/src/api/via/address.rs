//! Where a request below `/via/` goes, read from its address without changing a byte that matters.

use http::Uri;

/// The credential, and what is put behind its `base_url`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The credential's name, as written.
    pub(super) credential: String,
    /// Path and query as they came: empty, or with the path's slash first.
    pub(super) tail: String,
}

impl Address {
    pub(super) fn of(uri: &Uri) -> Self {
        let rest = uri.path().strip_prefix("/via/").unwrap_or_default();
        let end = rest.find('/').unwrap_or(rest.len());
        let (credential, path) = rest.split_at(end);
        // An apostrophe in a query has two spellings that mean the same; only one of them is canonical in a URL.
        let query = uri.query().map_or_else(String::new, |query| format!("?{}", query.replace('\'', "%27")));
        Self { credential: credential.to_owned(), tail: format!("{path}{query}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_stays_as_it_is_written() {
        for (written, credential, tail) in [
            ("/via/mail", "mail", ""),
            ("/via/mail/", "mail", "/"),
            ("/via/mail?a=1", "mail", "?a=1"),
            ("/via/mail/v1//x/%2e%2e/%2F?q=%20a&q=b+c?d", "mail", "/v1//x/%2e%2e/%2F?q=%20a&q=b+c?d"),
            ("/via/mail/x?", "mail", "/x?"),
            ("/via/mail/o'x?f=eq'a'", "mail", "/o'x?f=eq%27a%27"),
            ("/via//x", "", "/x"),
        ] {
            let address = Address::of(&written.parse().expect("an address"));
            assert_eq!((address.credential.as_str(), address.tail.as_str()), (credential, tail), "{written}");
        }
    }
}

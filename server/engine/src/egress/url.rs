//! Reading a URL so that what was written is what is sent.

use url::Url;

use super::blocked::{Blocked, Reason};
use super::policy;

/// Reads a URL, and refuses every text that would be sent as something else.
///
/// The parser of the WHATWG standard mends a great deal silently: `https:\\HOST\a\..\b` becomes `https://host/b`, and
/// `http://0x7f.1` becomes `http://127.0.0.1/`. Whoever reads the text then sees another request than the one that
/// leaves. So the text has to be the parser's own serialization, with two exceptions that cannot mislead: an empty path
/// stands for `/`, and the scheme's default port may be written out.
///
/// Also refused are other schemes than https and http, user info, fragments, and the hosts and paths that
/// [`Egress::check`](super::Egress::check) refuses for every credential.
pub fn parse_url(text: &str) -> Result<Url, Blocked> {
    let url = Url::parse(text).map_err(|_| Reason::NotAUrl)?;
    policy::check_scheme(&url)?;
    if url.as_str() != text && Some(url.as_str()) != spelled_out(text).as_deref() {
        return Err(Reason::NotCanonical.into());
    }
    policy::check_url(&url, false)?;
    Ok(url)
}

/// The text with `/` for an empty path and without a default port.
fn spelled_out(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end)?;
    let default_port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let authority = authority.strip_suffix(default_port).unwrap_or(authority);
    let slash = if tail.starts_with('/') { "" } else { "/" };
    Some(format!("{scheme}://{authority}{slash}{tail}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_canonically_is_taken_as_it_is() {
        for text in [
            "https://api.example/",
            "https://api.example/v1/messages?to=a%20b&x=%2F",
            "https://api.example:8443/v1/",
            "http://api.example:443/",
            "https://xn--bcher-kva.example/",
            "https://93.184.216.34/",
            "https://[2606:4700:4700::1111]/",
            "https://api.example/v1/a;b=c/:id/@me/~x/!$&'()*+,=",
            "https://api.example/caf%C3%A9",
            "https://api.example/?",
            "https://api.example/a.b/..c/.well-known/d..",
            "https://api.example//double//slash",
        ] {
            assert_eq!(parse_url(text).map(String::from), Ok(text.to_owned()));
        }
    }

    #[test]
    fn an_empty_path_and_a_default_port_may_be_left_to_the_parser() {
        for (text, sent) in [
            ("https://api.example", "https://api.example/"),
            ("https://api.example?a=b", "https://api.example/?a=b"),
            ("https://api.example:443", "https://api.example/"),
            ("https://api.example:443/v1", "https://api.example/v1"),
            ("http://api.example:80/v1", "http://api.example/v1"),
            ("https://[2606:4700:4700::1111]:443/v1", "https://[2606:4700:4700::1111]/v1"),
        ] {
            assert_eq!(parse_url(text).map(String::from), Ok(sent.to_owned()), "{text}");
        }
    }

    #[test]
    fn everything_the_parser_would_mend_is_refused() {
        for text in [
            // hosts
            "https://API.example/",
            "https://api.example./",
            "https://bücher.example/",
            "https://api%2eexample/",
            "https://api。example/",
            "https://api.exam\u{ad}ple/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://127.1/",
            "https://127.0.0.1./",
            "https://１２７.0.0.1/",
            "https://[::FFFF:127.0.0.1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[0:0:0:0:0:0:0:1]/",
            "https://[2606:4700:4700:0::1111]/",
            // ports
            "https://api.example:/",
            "https://api.example:0443/",
            "https://api.example:08443/",
            // user info
            "https://ann@api.example/",
            "https://ann:pw@api.example/",
            "https://@api.example/",
            "https://api.example:443@evil.example/",
            // white space
            " https://api.example/",
            "https://api.example/ ",
            "https://api.exa\tmple/",
            "https://api.example/v1\n/x",
            "https://api.example/a b",
            // slashes and dots
            "https:/api.example/",
            "https:api.example/",
            "https:///api.example/",
            "https:\\\\api.example\\",
            "https://api.example\\v1",
            "https://api.example/v1/../admin",
            "https://api.example/v1/./x",
            "https://api.example/v1/..",
            "https://api.example/v1/%2e%2E/admin",
            "https://api.example/v1/.%2e/admin",
            "https://api.example/v1\\..\\admin",
            // other letters
            "HTTPS://api.example/",
            "https://api.example/é",
            "https://api.example/?q=é",
            "https://api.example/?q=\"",
            "https://api.example/<x>",
            // fragments
            "https://api.example/#",
            "https://api.example/#x",
            // other schemes, and no URL at all
            "ftp://api.example/",
            "file:///etc/passwd",
            "data:text/plain,x",
            "javascript:alert(1)",
            "ws://api.example/",
            "//api.example/",
            "/v1/messages",
            "https://",
            "",
        ] {
            assert!(parse_url(text).is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn the_reason_repeats_nothing() {
        for text in
            ["https://topsecret/#topsecret", "topsecret", "topsecret://x", "https://a/topsecret/%2e./x"]
        {
            let why = parse_url(text).expect_err("refused").to_string();
            assert!(!why.contains("topsecret"), "{why}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_is_stable_and_never_loses_a_letter(text in "https?://[a-zA-Z0-9.:@%\\[\\]-]{0,12}[/\\\\?#]?[ -~]{0,16}") {
            if let Ok(url) = parse_url(&text) {
                prop_assert_eq!(parse_url(url.as_str()).map(String::from), Ok(url.to_string()));
                prop_assert!(url.as_str() == text || url.as_str() == spelled_out(&text).unwrap());
                prop_assert!(!url.path().split('/').any(|segment| segment == "." || segment == ".."));
            }
        }
    }
}

//! Forms are taken from the desk's own pages only. A cookie alone proves nothing: browsers send it along from anywhere.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::Response;

use super::show;

/// The origins whose pages are the desk's own.
#[derive(Debug, Clone)]
pub(super) struct Origins {
    /// As a browser writes it in `Origin`.
    own: Vec<String>,
    public_url: String,
}

/// Names that all mean the same machine; a desk on one of them is reached by each.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl Origins {
    /// The origin of the public address; on a loopback address its other names too.
    pub(super) fn of(public_url: &str) -> Self {
        let uri: Uri = public_url.parse().unwrap_or_default();
        let scheme = uri.scheme_str().unwrap_or("http");
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        let port = match (scheme, uri.port_u16()) {
            ("http", Some(80)) | ("https", Some(443)) | (_, None) => String::new(),
            (_, Some(port)) => format!(":{port}"),
        };
        let hosts = if LOOPBACK.contains(&host.as_str()) { LOOPBACK.to_vec() } else { vec![host.as_str()] };
        let own = hosts.into_iter().map(|host| format!("{scheme}://{host}{port}")).collect();
        Self { own, public_url: public_url.to_owned() }
    }

    /// Whether a browser says that a page of the desk itself sent this. What says nothing is no browser of today
    /// (Fetch Metadata; RFC 6454, section 7).
    fn fits(&self, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let mut sites = headers.get_all("sec-fetch-site").iter();
        let (origin, site) = (origins.next(), sites.next());
        let is_own =
            origin.is_none_or(|origin| self.own.iter().any(|own| own.as_bytes() == origin.as_bytes()));
        let is_same = site.is_none_or(|site| site == "same-origin");
        let is_said_once = origins.next().is_none() && sites.next().is_none();
        (origin.is_some() || site.is_some()) && is_own && is_same && is_said_once
    }
}

/// Refuses what changes something and does not come from the desk's own pages. Safe methods pass: they change nothing.
pub(super) async fn check(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    if request.method().is_safe() || origins.fits(request.headers()) {
        next.run(request).await
    } else {
        show::not_from_here(&origins.public_url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(public_url: &str, said: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            headers.append(*name, axum::http::HeaderValue::from_static(value));
        }
        Origins::of(public_url).fits(&headers)
    }

    #[test]
    fn from_the_desk_itself() {
        let desk = "https://desk.example/";
        assert!(fits(desk, &[("origin", "https://desk.example")]));
        assert!(fits(desk, &[("origin", "https://desk.example"), ("sec-fetch-site", "same-origin")]));
        assert!(fits(desk, &[("sec-fetch-site", "same-origin")]));
        assert!(fits("http://127.0.0.1:8087", &[("origin", "http://localhost:8087")]));
        assert!(fits("https://desk.example:443", &[("origin", "https://desk.example")]));
    }

    #[test]
    fn from_anywhere_else() {
        let desk = "https://desk.example";
        for said in [
            &[][..],
            &[("origin", "null")],
            &[("origin", "http://desk.example")],
            &[("origin", "https://desk.example:8443")],
            &[("origin", "https://desk.example.evil.example")],
            &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
            &[("origin", "https://desk.example"), ("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "none")],
            &[("origin", "https://desk.example"), ("origin", "https://evil.example")],
            &[("origin", "http://localhost")],
        ] {
            assert!(!fits(desk, said), "{said:?}");
        }
        assert!(!fits("http://127.0.0.1:8087", &[("origin", "http://localhost:8088")]));
    }
}

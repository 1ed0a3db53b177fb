//! One page of a list as an answer, with a link to the next.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::LINK;
use http::{HeaderValue, Uri};
use model::Listing;
use serde::Serialize;
use url::form_urlencoded;

/// The page, and `Link: <…>; rel="next"` (RFC 8288) when there is another one.
pub(crate) fn list_answer<T: Serialize>(asked: &Uri, listing: Listing<T>) -> Response {
    let next = listing.next_cursor.as_deref().map(|cursor| next_link(asked, cursor));
    let mut response = Json(listing).into_response();
    if let Some(value) = next.and_then(|link| HeaderValue::from_str(&link).ok()) {
        response.headers_mut().insert(LINK, value);
    }
    response
}

/// The same list from the cursor on: every other parameter stays as it was asked.
fn next_link(asked: &Uri, cursor: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let kept = form_urlencoded::parse(asked.query().unwrap_or_default().as_bytes())
        .filter(|(name, _)| name != "cursor");
    query.extend_pairs(kept).append_pair("cursor", cursor);
    format!("<{}?{}>; rel=\"next\"", asked.path(), query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_keeps_the_filters() {
        let asked = Uri::from_static("/v1/receipts?agent=a%20b&cursor=old&limit=2");
        assert_eq!(next_link(&asked, "n+1"), "</v1/receipts?agent=a+b&limit=2&cursor=n%2B1>; rel=\"next\"");
        assert_eq!(next_link(&Uri::from_static("/v1/events"), "n"), "</v1/events?cursor=n>; rel=\"next\"");
    }

    #[test]
    fn the_last_page_has_no_link() {
        let asked = Uri::from_static("/v1/events");
        let page = |next_cursor| list_answer(&asked, Listing { items: vec![1], next_cursor });
        assert!(page(None).headers().get(LINK).is_none());
        assert!(page(Some("n".to_owned())).headers().get(LINK).is_some());
    }
}

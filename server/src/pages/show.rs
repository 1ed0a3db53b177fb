//! Pages as answers.

use std::net::IpAddr;

use app::page::{Page, notice, render};
use app::visit::Visit;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use engine::Engine;
use model::Refusal;
use tower_sessions::Session;

use super::{assets, session};

/// The page at an address. Changes nothing, whatever the address says.
pub(super) async fn page(State(engine): State<Engine>, session: Session, uri: Uri) -> Response {
    let address = uri.path_and_query().map_or("/", |whole| whole.as_str()).to_owned();
    match visit(engine, &session, address, None).await {
        Ok(visit) => answer(render(visit).await),
        Err(refusal) => refused(&refusal),
    }
}

/// One visit of whoever is signed in.
pub(super) async fn visit(
    engine: Engine,
    session: &Session,
    address: String,
    from: Option<IpAddr>,
) -> Result<Visit, Refusal> {
    let visitor = session::visitor(&engine, session).await?;
    let session = session::mark(session);
    Ok(Visit { engine, visitor, session, from, address, posted: None, assets: assets::addresses() })
}

/// A page as an answer.
pub(super) fn answer(page: Page) -> Response {
    match page {
        Page::Html { status, html } => {
            (StatusCode::from_u16(status).unwrap_or(StatusCode::OK), Html(html)).into_response()
        }
        Page::Redirect(to) => redirect(&to),
    }
}

/// On to another page, with GET (RFC 9110, section 15.4.4).
pub(super) fn redirect(to: &str) -> Response {
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/inbox"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// The page that says no, without anything of the desk around it.
pub(super) fn refused(refusal: &Refusal) -> Response {
    let problem = refusal.problem();
    said(problem.status, &problem.title, &problem.detail)
}

/// The page for a form that came from elsewhere.
pub(super) fn not_from_here(public_url: &str) -> Response {
    let detail = format!(
        "This did not come from a page of this desk, so nothing was done. Open {public_url} and try again from there."
    );
    said(403, "Not from here", &detail)
}

/// The page for a form that is larger than any page of the desk makes one.
pub(super) fn too_large(limit: usize) -> Response {
    let detail = format!(
        "What was filled in is larger than {} MiB, so it was not taken and nothing was done. Go back and shorten it.",
        limit / (1024 * 1024)
    );
    said(413, "Too large", &detail)
}

/// The page for something posted that is no form.
pub(super) fn no_form() -> Response {
    said(
        415,
        "Not a form",
        "This address takes the forms of this desk's pages alone, so nothing was done. Programs use the API under /v1.",
    )
}

/// The page for filters that could not be read, where there is no form to mark them in.
pub(super) fn unread_filters(faults: &[(&'static str, &'static str)]) -> Response {
    let told: Vec<_> = faults.iter().map(|(name, fault)| format!("{name}: {fault}")).collect();
    said(422, "Not every filter could be read", &format!("Nothing was exported. {}", told.join(" ")))
}

/// The page for a method that pages do not have.
pub(super) async fn no_such_method() -> Response {
    let mut response = refused(&Refusal::MethodNotAllowed);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

fn said(status: u16, title: &str, detail: &str) -> Response {
    answer(Page::Html { status, html: notice(title, detail, assets::addresses()) })
}

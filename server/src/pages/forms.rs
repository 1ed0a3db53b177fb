//! Forms as requests: urlencoded in, a redirect or the page itself out.

use app::form::{self, Fields, Next, Submitted};
use app::page::render;
use app::visit::Visit;
use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::http::Uri;
use axum::response::Response;
use engine::Engine;
use model::Refusal;
use tower_sessions::Session;

use super::{session, show};

/// Takes a form in.
pub(super) async fn take(
    State(engine): State<Engine>,
    session: Session,
    uri: Uri,
    fields: Result<Form<Fields>, FormRejection>,
) -> Response {
    // A form that cannot be read is one without fields: its page says that it did not arrive whole.
    let fields = fields.map(|Form(fields)| fields).unwrap_or_default();
    answer(engine, &session, uri.path(), fields).await.unwrap_or_else(|refusal| show::refused(&refusal))
}

async fn answer(engine: Engine, session: &Session, path: &str, fields: Fields) -> Result<Response, Refusal> {
    let visit = show::visit(engine, session, path.to_owned()).await?;
    match form::post(path, visit.clone(), fields).await.ok_or(Refusal::NotFound)? {
        Submitted::Next(next) => follow(session, next).await,
        Submitted::Again { address, posted } => Ok(again(visit, address, *posted).await),
    }
}

async fn follow(session: &Session, next: Next) -> Result<Response, Refusal> {
    Ok(match next {
        Next::Go(to) => show::redirect(&to),
        Next::SignedIn { person, to } => {
            session::begin(session, person).await?;
            show::redirect(&to)
        }
        Next::SignedOut => {
            session::end(session).await?;
            show::redirect("/sign-in")
        }
        Next::Show(_) => show::redirect("/inbox"),
    })
}

async fn again(visit: Visit, address: String, posted: form::Posted) -> Response {
    show::answer(render(visit.again(address, posted)).await)
}

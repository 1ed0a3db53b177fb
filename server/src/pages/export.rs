//! What the filters of the Done tab show, as a file.

use app::receipt_filter;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::{Engine, PersonActor, ReceiptFilter};
use futures::TryStreamExt;
use model::Refusal;
use tower_sessions::Session;
use url::form_urlencoded;

use super::{session, show};
use crate::receipt_export::{Format, page, pages};

/// `/done/export.csv`
pub(super) async fn csv(engine: State<Engine>, session: Session, uri: Uri) -> Response {
    export(engine.0, &session, &uri, Format::Csv).await
}

/// `/done/export.jsonl`
pub(super) async fn jsonl(engine: State<Engine>, session: Session, uri: Uri) -> Response {
    export(engine.0, &session, &uri, Format::Jsonl).await
}

/// The whole of it, or why not.
async fn export(engine: Engine, session: &Session, uri: &Uri, format: Format) -> Response {
    let visitor = match session::visitor(&engine, session).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => {
            let next: String = form_urlencoded::byte_serialize(address(uri).as_bytes()).collect();
            return show::redirect(&format!("/sign-in?next={next}"));
        }
        Err(refusal) => return show::refused(&refusal),
    };
    let asked = receipt_filter::read(|name| {
        let mut pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    });
    if !asked.faults.is_empty() {
        return show::unread_filters(&asked.faults);
    }
    match file(engine, visitor, asked.filter, format).await {
        Ok(file) => file,
        Err(refusal) => show::refused(&refusal),
    }
}

fn address(uri: &Uri) -> String {
    uri.path_and_query().map_or("/done", |whole| whole.as_str()).to_owned()
}

async fn file(
    engine: Engine,
    visitor: PersonActor,
    filter: ReceiptFilter,
    format: Format,
) -> Result<Response, Refusal> {
    // What the first page says is said with a status; what later ones say can only end the file in its middle.
    let first = engine.done(&visitor, &filter, &page(None)).await?;
    let rest = pages(format, first, move |asked| {
        let (engine, visitor, filter) = (engine.clone(), visitor.clone(), filter.clone());
        async move { engine.done(&visitor, &filter, &asked).await }
    });
    let body = Body::from_stream(rest.map_err(|refusal| {
        tracing::error!(?refusal, "an export was cut short");
        std::io::Error::other("the desk could not go on")
    }));
    let disposition = format!("attachment; filename=\"{}\"", format.file_name());
    let disposition =
        HeaderValue::from_str(&disposition).unwrap_or_else(|_| HeaderValue::from_static("attachment"));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(format.media_type())),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((StatusCode::OK, headers, body).into_response())
}

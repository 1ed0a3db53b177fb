//! The style sheet, the script and the icon: inside the binary, at addresses that change with their content.

use std::sync::LazyLock;

use app::visit::Assets;
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// Where assets are served.
pub(super) const ROUTE: &str = "/style/{file}";

/// The layers in their order, and the order itself.
const STYLE: &str = concat!(
    "@layer reset, tokens, base, layout, components, utilities;\n",
    include_str!("../../../style/reset.css"),
    include_str!("../../../style/tokens.css"),
    include_str!("../../../style/base.css"),
    include_str!("../../../style/layout.css"),
    include_str!("../../../style/components.css"),
    include_str!("../../../style/utilities.css"),
);
const SCRIPT: &str = include_str!("../../../style/countersign.js");
const ICON: &str = include_str!("../../../style/mark.svg");

/// One file with the name that its content gives it.
struct Asset {
    file: String,
    content: &'static str,
    kind: &'static str,
}

static ALL: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        asset("css", STYLE, "text/css; charset=utf-8"),
        asset("js", SCRIPT, "text/javascript; charset=utf-8"),
        asset("svg", ICON, "image/svg+xml"),
    ]
});

static ADDRESSES: LazyLock<[String; 3]> =
    LazyLock::new(|| ALL.each_ref().map(|asset| format!("/style/{}", asset.file)));

fn asset(ending: &str, content: &'static str, kind: &'static str) -> Asset {
    let digest = Sha256::digest(content);
    let hash = digest.iter().take(8).fold(0_u64, |hash, byte| hash << 8 | u64::from(*byte));
    Asset { file: format!("countersign.{hash:016x}.{ending}"), content, kind }
}

/// The addresses for a page's head.
pub(super) fn addresses() -> Assets {
    let [style, script, icon] = ADDRESSES.each_ref().map(String::as_str);
    Assets { style, script, icon }
}

/// One asset. Its address never means anything else, so it is kept for ever.
pub(super) async fn serve(Path(file): Path<String>) -> Response {
    let Some(asset) = ALL.iter().find(|asset| asset.file == file) else {
        return (StatusCode::NOT_FOUND, "There is no such file.").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    (headers, asset.content).into_response()
}

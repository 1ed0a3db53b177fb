//! The style sheet, the scripts and the icons: inside the binary, at addresses that change with their content. Two have
//! fixed addresses, because browsers ask for them again and again there: the manifest and the service worker.

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
const NOTICES: &str = include_str!("../../../style/notices.js");
const PASSKEYS: &str = include_str!("../../../style/passkeys.js");
const ICON_192: &[u8] = include_bytes!("../../../style/icon-192.png");
const ICON_512: &[u8] = include_bytes!("../../../style/icon-512.png");

/// The service worker, for push alone; at the root, so that it is the desk's.
pub(super) const WORKER_ROUTE: &str = "/sw.js";

/// What a browser needs to put the desk among the programs of a machine.
pub(super) const MANIFEST_ROUTE: &str = "/manifest.webmanifest";

/// One file with the name that its content gives it.
struct Asset {
    file: String,
    content: &'static [u8],
    kind: &'static str,
}

static ALL: LazyLock<[Asset; 7]> = LazyLock::new(|| {
    [
        asset("css", STYLE.as_bytes(), "text/css; charset=utf-8"),
        asset("js", SCRIPT.as_bytes(), "text/javascript; charset=utf-8"),
        asset("svg", ICON.as_bytes(), "image/svg+xml"),
        asset("js", NOTICES.as_bytes(), "text/javascript; charset=utf-8"),
        asset("png", ICON_192, "image/png"),
        asset("png", ICON_512, "image/png"),
        asset("js", PASSKEYS.as_bytes(), "text/javascript; charset=utf-8"),
    ]
});

static ADDRESSES: LazyLock<[String; 7]> =
    LazyLock::new(|| ALL.each_ref().map(|asset| format!("/style/{}", asset.file)));

fn asset(ending: &str, content: &'static [u8], kind: &'static str) -> Asset {
    let digest = Sha256::digest(content);
    let hash = digest.iter().take(8).fold(0_u64, |hash, byte| hash << 8 | u64::from(*byte));
    Asset { file: format!("countersign.{hash:016x}.{ending}"), content, kind }
}

/// The addresses for a page's head.
pub(super) fn addresses() -> Assets {
    let [style, script, icon, notices, _, _, passkeys] = ADDRESSES.each_ref().map(String::as_str);
    Assets { style, script, icon, notices, passkeys }
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

static WORKER: LazyLock<String> =
    LazyLock::new(|| include_str!("../../../style/sw.js").replace("@ICON@", &ADDRESSES[4]));

/// The service worker. Asked for again each time, so that a new one counts at once.
pub(super) async fn worker() -> Response {
    fixed("text/javascript; charset=utf-8", &WORKER)
}

static MANIFEST: LazyLock<String> = LazyLock::new(|| {
    let [_, _, mark, _, small, large, ..] = ADDRESSES.each_ref().map(String::as_str);
    let png = |address: &str, sizes: &str| serde_json::json!({ "src": address, "sizes": sizes, "type": "image/png", "purpose": "any maskable" });
    let icons = [
        png(small, "192x192"),
        png(large, "512x512"),
        serde_json::json!({ "src": mark, "sizes": "any", "type": "image/svg+xml" }),
    ];
    let manifest = serde_json::json!({
        "name": "Countersign", "short_name": "Countersign", "id": "/", "start_url": "/inbox", "scope": "/",
        "display": "standalone", "background_color": "#faf9f5", "theme_color": "#faf9f5", "icons": icons,
    });
    manifest.to_string()
});

/// The manifest.
pub(super) async fn manifest() -> Response {
    fixed("application/manifest+json", &MANIFEST)
}

fn fixed(kind: &'static str, content: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, content).into_response()
}

//! The routes of the server, read from the router that serves.
//!
//! axum tells its routes nowhere but in how it shows itself, and Leptos lists its own. Both are the routers that answer, so
//! no list can be forgotten. When a new version of axum shows itself otherwise, `all` finds nothing, and says so.

use std::collections::{BTreeMap, BTreeSet};

use axum::Router;

/// A method and a path as the router writes it; `ANY`: every method.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route {
    pub(super) path: String,
    pub(super) method: String,
}

/// Every route of the server: of the router, and of the pages behind its fallback.
pub(super) fn all(app: &Router) -> BTreeSet<Route> {
    let pages = app::page::addresses();
    assert!(pages.contains(&"/inbox".to_owned()), "the pages could not be listed: {pages:?}");
    let pages = pages.into_iter().map(|path| Route { path, method: "GET".to_owned() });
    of_router(app).into_iter().chain(pages).collect()
}

fn of_router(app: &Router) -> BTreeSet<Route> {
    let shown = format!("{app:?}");
    let own = between(&shown, "path_router: PathRouter { ", "fallback_router: PathRouter {");
    let (routes, paths) = own.split_once("node: Node { paths: ").expect("axum shows its routes and paths");
    let paths: BTreeMap<&str, &str> =
        by_id(paths).map(|(id, shown)| (id, between(shown, "\"", "\""))).collect();
    let routes: BTreeMap<&str, Vec<String>> = by_id(routes).map(|(id, shown)| (id, methods(shown))).collect();
    assert!(paths.len() > 20 && paths.keys().eq(routes.keys()), "axum shows itself otherwise: {shown}");
    let listed = routes.into_iter().flat_map(|(id, methods)| {
        let path = paths[id].to_owned();
        methods.into_iter().map(move |method| Route { path: path.clone(), method })
    });
    listed.collect()
}

/// What is shown of each route, by its number.
fn by_id(shown: &str) -> impl Iterator<Item = (&str, &str)> {
    shown.split("RouteId(").skip(1).map(|one| one.split_once("): ").expect("a number and what it is"))
}

/// The methods of a route, without HEAD, which goes with GET. A route that does not list them takes every method.
fn methods(shown: &str) -> Vec<String> {
    let allowed = shown.split_once("allow_header: ").expect("which methods it takes").1;
    if allowed.starts_with("Skip") {
        return vec!["ANY".to_owned()];
    }
    let listed = between(allowed, "Bytes(b\"", "\")");
    listed.split(',').filter(|method| *method != "HEAD").map(str::to_owned).collect()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("{start} is not in {text}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("{end} is not in {rest}")).0
}

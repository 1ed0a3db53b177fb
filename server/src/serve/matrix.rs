//! The authorization matrix: every route of the running server, asked by every kind of caller, for what is theirs and what
//! is somebody else's.
//!
//! `matrix/table.txt` says what each is answered. Its rows are compared with the routes of the router itself, so a route
//! that nobody has thought about fails here, with the row to add. How a row is asked stands in `matrix/samples.rs`.

mod answer;
mod callers;
mod routes;
mod samples;
mod table;
mod world;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use self::answer::Answer;
use self::routes::Route;
use self::samples::Sample;
use self::table::Row;
use self::world::World;

/// The table, and where it stands for whoever has to change it.
const TABLE: &str = include_str!("matrix/table.txt");
const PLACE: &str = "server/src/serve/matrix/table.txt";

/// The methods that routes are asked with beside their own.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];

#[tokio::test]
async fn everybody_is_answered_on_every_route_as_the_table_says() {
    let mut world = World::open().await;
    let rows = table::rows(TABLE);
    let mut wrong = misses(&mut world, &rows).await;
    for row in &rows {
        let came = answers(&mut world, row, &mut wrong).await;
        if came != row.cells {
            let _ = writeln!(wrong, "\nThe table says\n{row}and it is\n{}", row.with(came));
        }
    }
    assert!(wrong.is_empty(), "{PLACE} and the router do not agree.\n{wrong}");
}

#[tokio::test]
async fn a_method_that_a_route_does_not_have_is_refused() {
    let mut world = World::open().await;
    let rows = table::rows(TABLE);
    let routes: BTreeSet<&Route> =
        rows.iter().filter(|row| !row.is_fallback()).map(|row| &row.route).collect();
    let has = |method: &str, path: &str| {
        routes.iter().any(|route| {
            route.path == path
                && (route.method == method
                    || route.method == "ANY"
                    || (method == "HEAD" && route.method == "GET"))
        })
    };
    let mut asked = BTreeSet::new();
    let mut wrong = String::new();
    for row in rows.iter().filter(|row| !row.is_fallback()) {
        let methods = METHODS.into_iter().filter(|method| !has(method, &row.route.path));
        for method in methods.filter(|method| asked.insert((row.route.path.clone(), *method))) {
            let path = samples::sample(&mut world, row).await.here.path;
            for (caller, status) in row.kind.without_method() {
                let told = callers::ask(&world, row.kind, caller, method, &path).await;
                if told.status != *status {
                    let _ = writeln!(wrong, "{method} {path} by {caller}: {}, not {status}", told.status);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The routes that are not in the table, each with the row to add, and the rows of the table without a route.
async fn misses(world: &mut World, rows: &[Row]) -> String {
    let told: BTreeSet<Route> =
        rows.iter().filter(|row| !row.is_fallback()).map(|row| row.route.clone()).collect();
    let there = routes::all(world.desk.app());
    let mut wrong = String::new();
    for route in there.difference(&told) {
        let row = Row::untold(route.clone());
        let came = answers(world, &row, &mut String::new()).await;
        let _ = writeln!(
            wrong,
            "\n{} {} is not in the table. Think about what each of {} should be answered, and add the row, which is \
             as it is answered now:\n{}To ask it with a body, or for somebody's object, give it an arm in samples.rs.",
            route.method,
            route.path,
            row.kind.names().join(", "),
            row.with(came),
        );
    }
    for route in told.difference(&there) {
        let _ = writeln!(
            wrong,
            "\n{} {} is in the table and no route any more: take its rows out.",
            route.method, route.path
        );
    }
    wrong
}

/// How each caller of a row is answered. What does not depend on the table is told beside it: what exists and is not
/// theirs looks like what never existed, HEAD is GET, and a page that sends from elsewhere is refused whoever is signed in.
async fn answers(world: &mut World, row: &Row, wrong: &mut String) -> Vec<String> {
    let mut came = Vec::new();
    for caller in row.kind.names() {
        let sample = samples::sample(world, row).await;
        let told = sample.here.ask(world, row.kind, caller).await;
        let answer = Answer::of(&told);
        let faults = [
            as_if_it_never_was(world, row, caller, &sample, &answer).await,
            head_as_get(world, row, caller, &sample, told.status).await,
            whoever_is_signed_in(world, row, caller, &sample, told.status).await,
        ];
        for fault in faults.into_iter().flatten() {
            let Route { method, path } = &row.route;
            let _ = writeln!(wrong, "\n{method} {path} {} by {caller}: {fault}", row.what);
        }
        world.after(row, caller, told.status).await;
        came.push(answer.cell);
    }
    came
}

/// Who is told that there is nothing is told the same, byte for byte, where there never was anything.
async fn as_if_it_never_was(
    world: &World,
    row: &Row,
    caller: &str,
    sample: &Sample,
    answer: &Answer,
) -> Option<String> {
    let never = sample.never.as_ref().filter(|_| answer.hides())?;
    let other = Answer::of(&never.ask(world, row.kind, caller).await);
    (*answer != other).then(|| format!("it can be told from what never was.\n{answer:?}\n{other:?}"))
}

/// HEAD is answered as GET is, without a body; where a GET begins or ends a sign-in at a provider, it is no method.
async fn head_as_get(world: &World, row: &Row, caller: &str, sample: &Sample, status: u16) -> Option<String> {
    if row.route.method != "GET" || row.streams() || row.leads_away() {
        return None;
    }
    let head = sample.here.with_method("HEAD").ask(world, row.kind, caller).await;
    let wanted = if row.route.path.starts_with("/sign-in/oidc") { 405 } else { status };
    let is_same = head.status == wanted && head.bytes.is_empty();
    (!is_same).then(|| format!("HEAD is {} with {} bytes, not {wanted}", head.status, head.bytes.len()))
}

/// What another site's page sends is answered the same whoever is signed in, and whatever it makes the browser say.
async fn whoever_is_signed_in(
    world: &World,
    row: &Row,
    caller: &str,
    sample: &Sample,
    status: u16,
) -> Option<String> {
    if caller != "foreign" || row.is_safe() {
        return None;
    }
    let came = callers::all_lies(world, &sample.here).await;
    let other = came.iter().find(|(.., other)| *other != status);
    other.map(|(who, lie, other)| format!("{who} with {lie} is answered {other}, not {status}"))
}

//! What the service's refusals mean, where the document tells.

use serde_json::{Value, json};

use super::document::Document;
use super::inputs::Inputs;
use super::operation::Operation;
use super::parameter::Place;
use super::prose;

/// The statuses that are told, with the words for those that the document has none for.
const TOLD: &[(u16, &str, &[&str])] = &[
    (404, "There is none of that name or id.", &["not found", "notfound", "404", "resource not found"]),
    (409, "This does not fit how things stand there.", &["conflict", "409"]),
    (
        422,
        "The service does not take these values.",
        &[
            "unprocessable entity",
            "unprocessable content",
            "unprocessable",
            "validation failed",
            "validation error",
            "422",
        ],
    ),
];

/// Words that no template and no caller's value is in, for every refusal that the document tells.
pub(super) fn refusals(document: &Document, operation: &Operation<'_>, inputs: &Inputs) -> Vec<Value> {
    let told = TOLD.iter().filter_map(|(status, plain, saying_nothing)| {
        let answer = operation.responses().find(|(known, _)| *known == status.to_string())?.1;
        let written =
            document.resolve(answer).ok().and_then(|answer| prose::field(answer, "description", 160));
        let says_something =
            |text: &String| !saying_nothing.contains(&text.trim_end_matches('.').to_lowercase().as_str());
        let message =
            written.filter(says_something).map_or_else(|| (*plain).to_owned(), |text| prose::sentence(&text));
        let field = only_path_argument(inputs).filter(|_| *status == 404);
        Some(match (status, field) {
            (_, Some(field)) => json!({ "status": status, "field": field, "message": message }),
            (422, None) => json!({ "status": status, "as": 422, "message": message }),
            _ => json!({ "status": status, "message": message }),
        })
    });
    told.collect()
}

/// The argument that a "not found" is about: the path's, when it has one.
fn only_path_argument(inputs: &Inputs) -> Option<&str> {
    let mut in_path = inputs.iter().filter(|input| input.place == Place::Path);
    let first = in_path.next()?;
    in_path.next().is_none().then_some(first.name.as_str())
}

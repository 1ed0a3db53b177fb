//! Why a command ended without doing what it was asked.

use std::fmt;

use model::Refusal;

/// What happened, what was not done, and what to do about it. Printed on stderr; the exit code is 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    happened: String,
    undone: &'static str,
    next: String,
}

impl Failure {
    /// Each part is one sentence or more, with its full stop.
    pub(crate) fn new(happened: impl Into<String>, undone: &'static str, next: impl Into<String>) -> Self {
        Self { happened: happened.into(), undone, next: next.into() }
    }

    /// The answer could not be printed.
    pub(crate) fn unprintable(error: &std::io::Error) -> Self {
        Self::new(
            format!("The answer could not be written to the standard output: {error}."),
            "What was asked has been done; only its answer is lost.",
            "Look at the matching list. A key or token that was to be shown is lost: revoke it and make another.",
        )
    }

    /// The engine said no. `undone`: what therefore did not happen.
    pub(crate) fn refused(refusal: &Refusal, undone: &'static str) -> Self {
        match refusal {
            Refusal::Invalid(errors) => {
                let line = |error: &model::FieldError| format!("{}: {}", shown(&error.field), error.message);
                let lines: Vec<_> = errors.iter().map(line).collect();
                Self::new(lines.join("\n"), undone, "Mend what is listed and run the command again.")
            }
            Refusal::NotFound => {
                Self::new("There is none of that name or id.", undone, "Look at the matching list.")
            }
            other => {
                let problem = other.problem();
                Self::new(
                    format!("{}: {}", problem.title, problem.detail),
                    undone,
                    "The log above may tell more.",
                )
            }
        }
    }
}

/// A field's pointer as people write it on a command line.
fn shown(pointer: &str) -> &str {
    match pointer.trim_start_matches('/') {
        "" => "error",
        field => field,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{} {}", self.happened, self.undone, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_at_fault_is_told() {
        let refusal = Refusal::Invalid(vec![
            model::FieldError::new("/email", "Somebody has this address."),
            model::FieldError::new("", "One more thing."),
        ]);
        let text = Failure::refused(&refusal, "Nobody was added.").to_string();
        let expected = "email: Somebody has this address.\nerror: One more thing.\n\
                        Nobody was added. Mend what is listed and run the command again.";
        assert_eq!(text, expected);
    }
}

//! Names that are taken for each other: nobody calls themselves what somebody else is called.
//!
//! Source: Unicode Technical Standard 39, section 4 (confusable detection).

use unicode_security::skeleton;

/// What separates names where several stand in a row.
const BETWEEN: [&str; 4] = [",", ";", "/", "&"];

/// Whether a name would be read as this other one, or as a row of names with it in it.
pub(crate) fn reads_like(name: &str, other: &str) -> bool {
    let mut row = vec![name.to_owned()];
    for between in BETWEEN.into_iter().chain([" for ", " and "]) {
        row = row.iter().flat_map(|part| part.split(between)).map(str::to_owned).collect();
    }
    let other = looks(other);
    let is_other = |name: &str| looks(name).into_iter().any(|look| other.contains(&look));
    is_other(name) || row.iter().any(|part| is_other(part))
}

/// What a name looks like: without case, accidental blanks, and letters of another kind that are drawn alike. What is large may
/// be drawn like a letter that it is not like when small, and the other way round.
fn looks(name: &str) -> [String; 2] {
    let drawn: String = skeleton(name).collect();
    [name, &drawn].map(|name| {
        let drawn: String = skeleton(&name.to_lowercase()).collect();
        drawn.split_whitespace().collect::<Vec<_>>().join(" ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_like_another_name_is_found() {
        for name in [
            "Max",
            "max",
            " Max ",
            "\u{41c}\u{430}\u{445}",
            "Olga, Max",
            "Olga; max",
            "Ole for Max",
            "Max and Olga",
            "Max/Ole",
        ] {
            assert!(reads_like(name, "Max"), "{name}");
        }
        assert!(reads_like("0lga  Berg", "Olga Berg"));
        for name in ["Maxine", "Max Berg", "Ann", "Anders Fortmax", "Mia, Berg"] {
            assert!(!reads_like(name, "Max"), "{name}");
        }
    }
}

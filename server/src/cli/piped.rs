//! What must not stand on a command line comes through a pipe.

use std::io::Read;

use engine::secret::Secret;

use crate::failure::Failure;

/// Reads one secret of at most `limit` bytes; one trailing newline is dropped. `what` is its name, `undone` what is
/// therefore not done when there is none.
///
/// # Errors
/// When it is empty, too long or no text, or has a NUL in it.
pub(super) fn secret(
    input: impl Read,
    what: &str,
    limit: usize,
    undone: &'static str,
) -> Result<Secret, Failure> {
    let fault =
        |happened: String| Failure::new(happened, undone, format!("Pipe one {what} in, without NUL."));
    // Room for all of it at once: a buffer that grows leaves pieces of what it held behind.
    let mut text = String::with_capacity(limit + 2);
    let read = input.take(limit as u64 + 2).read_to_string(&mut text);
    let text = Secret::new(text);
    read.map_err(|error| fault(format!("The {what} cannot be read: {error}.")))?;
    let read = text.expose();
    let given = read.strip_suffix('\n').unwrap_or(read);
    if given.len() > limit {
        return Err(fault(format!("The {what} is longer than {limit} bytes.")));
    }
    if given.is_empty() || given.contains('\0') {
        return Err(fault(format!("The standard input held no {what}.")));
    }
    Ok(Secret::new(given.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trailing_newline_is_dropped() {
        let read = |text: &'static str| {
            secret(text.as_bytes(), "password", 10, "Nothing.").map(|secret| secret.expose().to_owned()).ok()
        };
        assert_eq!(read("pass word\n").as_deref(), Some("pass word"));
        assert_eq!(read("pass\n\n").as_deref(), Some("pass\n"));
        assert_eq!(read(" pass ").as_deref(), Some(" pass "));
        assert_eq!(read("0123456789\n").as_deref(), Some("0123456789"));
        for refused in ["\n", "", "a\0b", "01234567890", "01234567890\n", "0123456789\n\n\n"] {
            assert_eq!(read(refused), None, "{refused:?}");
        }
    }
}

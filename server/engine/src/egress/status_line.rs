//! The status line of an answer whose rest may never come.

/// The status of the final answer in these bytes, when its whole status line is there; informational answers
/// (RFC 9110, section 15.2) are passed over. `None` for everything that is not HTTP/1.
pub(super) fn final_status(mut bytes: &[u8]) -> Option<u16> {
    loop {
        let (line, rest) = line(bytes)?;
        if line.is_empty() {
            bytes = rest; // an empty line before the answer, RFC 9112, section 2.2
            continue;
        }
        match status(line)? {
            // The connection would speak another protocol from here on, which nobody asked for.
            101 => return None,
            100..=199 => bytes = after_head(rest)?,
            status @ 200..=599 => return Some(status),
            // Nothing that HTTP knows (RFC 9110, section 15): whoever says it may have done anything.
            _ => return None,
        }
    }
}

fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = &bytes[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), &bytes[end + 1..]))
}

fn status(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.1 ").or_else(|| line.strip_prefix(b"HTTP/1.0 "))?;
    let (digits, reason) = rest.split_at_checked(3)?;
    let well_formed = digits.iter().all(u8::is_ascii_digit) && (reason.is_empty() || reason[0] == b' ');
    let status = digits.iter().fold(0, |number, digit| number * 10 + u16::from(digit.wrapping_sub(b'0')));
    (well_formed && status >= 100).then_some(status)
}

/// What comes after the empty line.
fn after_head(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let (line, rest) = line(bytes)?;
        bytes = rest;
        if line.is_empty() {
            return Some(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_lines_of_final_answers_count() {
        for (bytes, expected) in [
            ("HTTP/1.1 200 OK\r\n", Some(200)),
            ("HTTP/1.1 200\r\n", Some(200)),
            ("HTTP/1.1 200 \r\ncontent-le", Some(200)),
            ("HTTP/1.0 404 Not Found\n", Some(404)),
            ("\r\n\r\nHTTP/1.1 500 x\r\n", Some(500)),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n", Some(201)),
            ("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 100\r\n\r\nHTTP/1.1 599 x\r\n", Some(599)),
            ("HTTP/1.1 600 x\r\n", None),
            ("HTTP/1.1 999 x\r\n", None),
            ("HTTP/1.1 999 x\r\n\r\nHTTP/1.1 200 OK\r\n", None),
            ("", None),
            ("HTTP/1.1 200 OK", None),
            ("HTTP/1.1 200 OK\r", None),
            ("HTTP/1.1 100 Continue\r\n\r\n", None),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 20", None),
            ("HTTP/1.1 100 Continue\r\nx: HTTP/1.1 200 OK\r\n", None),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n", None),
            ("HTTP/2 200\r\n", None),
            ("HTTP/1.2 200 OK\r\n", None),
            ("HTTP/1.1  200 OK\r\n", None),
            ("HTTP/1.1 2000 OK\r\n", None),
            ("HTTP/1.1 2x0 OK\r\n", None),
            ("HTTP/1.1 099 OK\r\n", None),
            ("HTTP/1.1 20\r\n", None),
            ("ICY 200 OK\r\n", None),
            ("SSH-2.0-OpenSSH\r\n", None),
        ] {
            assert_eq!(final_status(bytes.as_bytes()), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn more_bytes_never_change_a_status(bytes: Vec<u8>, cut: prop::sample::Index) {
            let text = [b"HTTP/1.1 100 a\r\n\r\nHTTP/1.1 204 b\r\n".as_slice(), &bytes].concat();
            let early = final_status(&text[..cut.index(text.len() + 1)]);
            prop_assert!(early.is_none() || early == Some(204));
            prop_assert_eq!(final_status(&text), Some(204));
            final_status(&bytes);
        }
    }
}

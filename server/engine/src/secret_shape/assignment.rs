//! A random value that is given to a name such as `password`, `api_key` or `client_secret`.

use std::sync::LazyLock;

use regex::Regex;

use super::Fit;

const RULE: &str = "a random value under a name for secrets";

/// The shortest value that is looked at: below it, chance looks like intent.
const SHORTEST: usize = 16;

/// The longest: what is longer is a document and no secret.
const LONGEST: usize = 512;

/// Parts of names that secrets are kept under.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "credential",
    "bearer",
    "authorization",
];

/// Parts of names that look like those and are not: pages, counters, checks against forgery, what is public.
const HARMLESS_NAMES: &[&str] = &[
    "page",
    "next",
    "cursor",
    "continu",
    "sync",
    "csrf",
    "xsrf",
    "idempot",
    "public",
    "type",
    "count",
    "limit",
    "max",
    "usage",
    "expir",
    "url",
    "uri",
    "name",
    "hint",
    "policy",
    "tokenid",
    "tokenizer",
    "tokenize",
    "device",
    "push",
];

/// `name = value`, `name: value`, `"name": "value"`, `name => value`, where the name may be one for secrets.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    let name = concat!(
        r"[A-Za-z0-9_.-]{0,40}",
        r"(?:passw|passphrase|pwd|secret|token|(?:api|access|private|auth|signing|encryption)[_.-]?key",
        r"|credential|bearer|authorization)",
        r"[A-Za-z0-9_.-]{0,30}",
    );
    let between = r#"\\?["']?\s{0,3}(?::=|=>|=|:)\s{0,3}\\?["']?(?:Bearer |Basic |Token )?"#;
    let value = r#"[^\s"'<>&;,=\\]{16,512}={0,2}"#;
    #[expect(clippy::expect_used, reason = "the form is fixed, and every test of this module compiles it")]
    Regex::new(&format!("(?i)({name}){between}({value})")).expect("a fixed form compiles")
});

/// Where such values stand in a text, and whether the whole text is one, given its own name.
pub(super) fn fits(name: Option<&str>, text: &str) -> Vec<Fit> {
    let whole = name.is_some_and(|name| is_secret_name(name) && is_random(bare(text)));
    if whole {
        return vec![Fit { name: RULE, at: 0 }];
    }
    let inside = ASSIGNED.captures_iter(text).filter_map(|found| {
        let (name, value) = (found.get(1)?, found.get(2)?);
        (is_secret_name(name.as_str()) && is_random(value.as_str())).then(|| name.start())
    });
    inside.take(1).map(|at| Fit { name: RULE, at }).collect()
}

/// A value without the scheme that may stand before it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    ["Bearer ", "Basic ", "Token ", "bearer ", "token "]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme))
        .unwrap_or(text)
}

fn is_secret_name(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
        && !HARMLESS_NAMES.iter().any(|part| name.contains(part))
}

/// Whether a value looks drawn at random and not written by a person.
fn is_random(value: &str) -> bool {
    let fits = (SHORTEST..=LONGEST).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_graphic())
        && !value.contains("://")
        && !is_placeholder(value)
        && !is_uuid(value);
    if !fits {
        return false;
    }
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let (upper, lower) = (has(u8::is_ascii_uppercase), has(u8::is_ascii_lowercase));
    let bits = bits_a_letter(value);
    if value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return value.len() >= 32 && digits > 0 && (upper || lower) && bits >= 3.0;
    }
    if upper && lower {
        return digits > 0 && bits >= 3.5;
    }
    // One case alone: words with a number behind them look like this too, unless the digits are mixed in.
    let separated = value.contains(['-', '_', '.', '/', ' ']);
    (upper || lower) && !separated && digits >= 3 && value.len() >= 20 && bits >= 3.5
}

/// `${TOKEN}`, `{{ token }}`, `<token>`, `[redacted]`, `xxxxxxxx`, `********`.
fn is_placeholder(value: &str) -> bool {
    let marked =
        value.contains("${") || value.contains("{{") || value.starts_with(['<', '[', '$', '%', '{', '(']);
    let lower = value.to_ascii_lowercase();
    let says_so =
        ["example", "placeholder", "changeme", "redacted", "your_", "your-", "xxxx", "****", "...", "todo"];
    marked || says_so.iter().any(|part| lower.contains(part))
}

fn is_uuid(value: &str) -> bool {
    uuid::Uuid::try_parse(value).is_ok()
}

/// How much a letter of the value tells, in bits (Shannon's entropy of its letters).
fn bits_a_letter(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let share = |count: &u32| f64::from(*count) / length;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

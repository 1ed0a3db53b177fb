//! When people are told that a call waits for them, and how mail is sent.

use std::time::Duration;

use url::Url;

use super::document::{Node, Section};
use super::mistake::{Notes, Wrong};

/// When people are told, `[notices]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeSettings {
    /// How long a call waits before anybody is told of it.
    pub after: Duration,
    /// The shortest time between two notices to the same person on the same way.
    pub every: Duration,
    /// Push services may be spoken to over plain http.
    pub allow_http: bool,
    /// Push services may be at loopback or private addresses.
    pub allow_private: bool,
}

impl Default for NoticeSettings {
    fn default() -> Self {
        Self {
            after: Duration::from_mins(1),
            every: Duration::from_mins(5),
            allow_http: false,
            allow_private: false,
        }
    }
}

/// How mail is sent, `[mail]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSettings {
    /// The server's name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is kept from others.
    pub security: MailSecurity,
    /// Who signs in there.
    pub user: Option<String>,
    /// The environment variable with their password.
    pub password: Option<String>,
    /// The address that mail comes from.
    pub from: String,
    /// The name that stands beside it.
    pub from_name: Option<String>,
}

/// How a connection to a mail server is kept from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailSecurity {
    /// TLS from the first byte on: `smtps://`.
    Tls,
    /// STARTTLS, and nothing is said before it: `smtp://`.
    StartTls,
    /// None: `smtp://` with `allow_plain`.
    None,
}

const NOTICE_KEYS: &[&str] = &["after", "every", "allow_http", "allow_private"];
const MAIL_KEYS: &[&str] = &["smtp", "from", "password", "allow_plain"];

const LONGEST: Duration = Duration::from_hours(24);

impl NoticeSettings {
    /// Reads `[notices]`.
    pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        let section = Section::open(node, "[notices]", NOTICE_KEYS, notes)?;
        let plain = Self::default();
        Some(Self {
            after: at_most_a_day(&section, "after", plain.after),
            every: at_most_a_day(&section, "every", plain.every),
            allow_http: section.boolean("allow_http", false),
            allow_private: section.boolean("allow_private", false),
        })
    }
}

fn at_most_a_day(section: &Section<'_>, key: &str, default: Duration) -> Duration {
    let length = section.duration(key, default);
    if length > LONGEST {
        section.wrong(key, Wrong::new(format!("“{key}” is too long")).expected("at most 24h"));
    }
    length
}

impl MailSettings {
    /// Reads `[mail]`.
    pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        let section = Section::open(node, "[mail]", MAIL_KEYS, notes)?;
        let server = server(&section);
        let from = from(&section);
        let password = section.get("password").and_then(|node| variable(node, "“password”", notes));
        let (url, security) = server?;
        let user = Some(url.username()).filter(|user| !user.is_empty()).map(decoded);
        if user.is_some() != section.get("password").is_some() {
            let message =
                "a mail server is signed in to with a user and a password, and only one of them is there";
            let expected = "smtp = \"smtps://USER@HOST\" and password = { env = \"NAME\" }, or neither";
            section.wrong("password", Wrong::new(message).expected(expected));
        }
        let (from_name, from) = from?;
        let usual = if security == MailSecurity::Tls { 465 } else { 587 };
        Some(Self {
            host: url.host_str()?.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(usual),
            security,
            user,
            password,
            from,
            from_name,
        })
    }
}

/// The address of the mail server.
fn server(section: &Section<'_>) -> Option<(Url, MailSecurity)> {
    let text = section.required_text("smtp")?;
    let plain = section.boolean("allow_plain", false);
    let url = Url::parse(text).ok().filter(|url| {
        let bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        matches!(url.scheme(), "smtp" | "smtps") && url.host().is_some() && bare
    });
    let Some(url) = url else {
        let expected = "an address such as \"smtps://user@mail.example:465\" or \"smtp://mail.example:587\"";
        section.wrong("smtp", Wrong::new("“smtp” is no mail server").expected(expected));
        return None;
    };
    if url.password().is_some() {
        let wrong = Wrong::new("a password does not belong into the catalogue");
        section.wrong("smtp", wrong.expected("password = { env = \"NAME\" }"));
    }
    let security = match (url.scheme(), plain) {
        ("smtps", false) => MailSecurity::Tls,
        ("smtps", true) => {
            section.wrong(
                "allow_plain",
                Wrong::new("smtps is never plain").expected("smtp://, or no allow_plain"),
            );
            MailSecurity::Tls
        }
        (_, false) => MailSecurity::StartTls,
        (_, true) => MailSecurity::None,
    };
    Some((url, security))
}

/// Name and address of `from`: `desk@house.example` or `Countersign <desk@house.example>`.
fn from(section: &Section<'_>) -> Option<(Option<String>, String)> {
    let text = section.required_text("from")?;
    let (name, address) = match text.strip_suffix('>').and_then(|text| text.split_once('<')) {
        Some((name, address)) => (Some(name.trim()).filter(|name| !name.is_empty()), address),
        None => (None, text.trim()),
    };
    let is_name = name.is_none_or(|name| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '\''))
    });
    if !is_name || address.parse::<lettre::Address>().is_err() || !address.is_ascii() {
        let expected = "an address such as \"desk@house.example\" or \"Countersign <desk@house.example>\"";
        section.wrong("from", Wrong::new("“from” is no address that mail can come from").expected(expected));
        return None;
    }
    Some((name.map(str::to_owned), address.to_owned()))
}

/// The variable of `{ env = "NAME" }`.
pub(super) fn variable(node: &Node, what: &'static str, notes: &Notes<'_>) -> Option<String> {
    let inner = Section::open(node, what, &["env"], notes)?;
    inner.required_text("env").map(str::to_owned)
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

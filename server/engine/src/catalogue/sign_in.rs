//! How people sign in: with a password, or through a provider that speaks OpenID Connect.

use std::collections::BTreeMap;

use url::Url;

use super::document::{Node, Section};
use super::mistake::{Notes, Wrong};
use crate::credential::SecretSource;
use crate::registry::is_name;

/// How people sign in, `[sign_in]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInSettings {
    /// Passwords count.
    pub passwords: bool,
    /// The provider; `None`: there is none.
    pub oidc: Option<ProviderSettings>,
}

impl Default for SignInSettings {
    fn default() -> Self {
        Self { passwords: true, oidc: None }
    }
}

/// A provider that people sign in through, `[sign_in.oidc]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its name for itself, as it writes it.
    pub issuer: String,
    /// What it knows this desk by.
    pub client_id: String,
    /// Where the desk's secret there is; `None`: it has none.
    pub client_secret: Option<SecretSource>,
    /// What it is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// What the way to it is called.
    pub label: String,
    /// The claim that lists a person's groups there.
    pub groups_claim: String,
    /// Groups of the desk, each with the groups there whose people are in it.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Whoever it knows, and nobody invited, gets an account.
    pub provision: bool,
    /// Plain http.
    pub allow_http: bool,
    /// It may be at a loopback or private address.
    pub allow_private: bool,
}

const KEYS: &[&str] = &["passwords", "oidc"];
const OIDC_KEYS: &[&str] = &[
    "issuer",
    "client_id",
    "client_secret",
    "scopes",
    "label",
    "groups_claim",
    "groups",
    "provision",
    "allow_http",
    "allow_private",
];

const LONGEST_LABEL: usize = 60;

impl SignInSettings {
    /// Reads `[sign_in]`.
    pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        let section = Section::open(node, "[sign_in]", KEYS, notes)?;
        let passwords = section.boolean("passwords", true);
        if !passwords && section.get("oidc").is_none() {
            let wrong =
                Wrong::absent("passwords are switched off and there is no provider: nobody could sign in");
            section.wrong("passwords", wrong.expected("a table [sign_in.oidc], or passwords = true"));
        }
        let oidc = section.get("oidc").and_then(|node| ProviderSettings::read(node, notes));
        Some(Self { passwords, oidc })
    }
}

impl ProviderSettings {
    fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        let section = Section::open(node, "[sign_in.oidc]", OIDC_KEYS, notes)?;
        let allow_http = section.boolean("allow_http", false);
        let issuer = issuer(&section, allow_http);
        let client_id = section.required_text("client_id");
        let client_secret = secret(&section);
        let (scopes, groups_claim, groups) = (scopes(&section), groups_claim(&section), groups(&section));
        let (provision, allow_private) =
            (section.boolean("provision", false), section.boolean("allow_private", false));
        let label = label(&section);
        let issuer = issuer?;
        Some(Self {
            label: label.unwrap_or_else(|| format!("Sign in with {}", host(&issuer))),
            issuer,
            client_id: client_id?.to_owned(),
            client_secret: client_secret?,
            scopes,
            groups_claim,
            groups,
            provision,
            allow_http,
            allow_private,
        })
    }
}

fn host(issuer: &str) -> String {
    let url = Url::parse(issuer).ok();
    url.as_ref().and_then(Url::host_str).unwrap_or("the provider").to_owned()
}

/// The issuer byte for byte: what the provider says of itself is compared with it.
fn issuer(section: &Section<'_>, allow_http: bool) -> Option<String> {
    let text = section.required_text("issuer")?;
    let Some(url) = Url::parse(text).ok().filter(is_issuer) else {
        let expected = "the address the provider names itself by, such as \"https://login.example\", \
            without query, fragment and user";
        section.wrong("issuer", Wrong::new("“issuer” cannot be used").expected(expected));
        return None;
    };
    if url.scheme() == "http" && !allow_http {
        section.wrong("issuer", Wrong::new("“issuer” is plain http").expected("https, or allow_http = true"));
    }
    if text.ends_with("/.well-known/openid-configuration") {
        let wrong = Wrong::new("“issuer” is the address of the provider's document, not of the provider");
        let expected = text.trim_end_matches("/.well-known/openid-configuration");
        section.wrong("issuer", wrong.expected(format!("\"{expected}\"")));
    }
    Some(text.to_owned())
}

fn is_issuer(url: &Url) -> bool {
    let web = matches!(url.scheme(), "http" | "https") && url.host().is_some();
    web && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}

/// `None`: there is one, and it cannot be used.
#[expect(clippy::option_option, reason = "that there is none is a way to be a client")]
fn secret(section: &Section<'_>) -> Option<Option<SecretSource>> {
    let Some(node) = section.get("client_secret") else { return Some(None) };
    let inner = Section::open(node, "“client_secret”", &["env", "store"], section.notes)?;
    match (inner.get("env"), inner.get("store")) {
        (Some(_), None) => inner.required_text("env").map(|name| Some(SecretSource::Env(name.to_owned()))),
        (None, Some(_)) if inner.boolean("store", true) => Some(Some(SecretSource::Store)),
        _ => {
            let wrong = Wrong::new("“client_secret” does not say where the secret is");
            section.wrong("client_secret", wrong.expected("{ env = \"NAME\" } or { store = true }"));
            None
        }
    }
}

fn scopes(section: &Section<'_>) -> Vec<String> {
    if section.get("scopes").is_none() {
        return vec!["email".to_owned(), "profile".to_owned()];
    }
    let mut scopes = Vec::new();
    for (text, at) in section.texts("scopes") {
        let fits = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!'..=b'~') && byte != b'"');
        if !fits {
            let expected = "words such as \"email\", one an entry";
            section.notes.add(at, Wrong::new("“scopes” has what is no scope").expected(expected));
        } else if text != "openid" {
            scopes.push(text.to_owned());
        }
    }
    scopes
}

fn label(section: &Section<'_>) -> Option<String> {
    section.get("label")?;
    let text = section.required_text("label")?.trim();
    if text.chars().count() > LONGEST_LABEL || text.chars().any(char::is_control) {
        let expected = format!("at most {LONGEST_LABEL} characters on one line");
        section.wrong("label", Wrong::new("“label” does not fit a button").expected(expected));
        return None;
    }
    Some(text.to_owned())
}

fn groups_claim(section: &Section<'_>) -> String {
    if section.get("groups_claim").is_none() {
        return "groups".to_owned();
    }
    section.required_text("groups_claim").unwrap_or_default().to_owned()
}

/// The mapping turned around: whoever is in one of several groups there is in the group here.
fn groups(section: &Section<'_>) -> BTreeMap<String, Vec<String>> {
    let mut mapped: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let entries =
        section.get("groups").and_then(|node| node.table("“groups”", section.notes)).unwrap_or_default();
    for entry in entries {
        let Some(group) = entry.node.text("a group of the desk", section.notes) else { continue };
        if is_name(group) {
            mapped.entry(group.to_owned()).or_default().push(entry.key.clone());
        } else {
            let expected = "1 to 100 letters, digits, “.”, “-” or “_”";
            section.notes.add(
                &entry.node.span,
                Wrong::new("a group of the desk cannot have this name").expected(expected),
            );
        }
    }
    mapped
}

#[cfg(test)]
mod tests {
    use super::super::{Catalogue, Mistakes};
    use super::*;

    const LEAST: &str = "[sign_in.oidc]\nissuer = \"https://login.example/realm\"\nclient_id = \"desk\"\n";

    fn read(text: &str) -> SignInSettings {
        Catalogue::parse(text, "c.toml").unwrap_or_else(|mistakes| panic!("{mistakes}")).sign_in
    }

    fn wrong(text: &str) -> String {
        let Err(Mistakes(mistakes)) = Catalogue::parse(text, "c.toml") else { panic!("taken: {text}") };
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn without_the_table_there_are_passwords_alone() {
        assert_eq!(read(""), SignInSettings { passwords: true, oidc: None });
    }

    #[test]
    fn a_provider_needs_little() {
        let oidc = read(LEAST).oidc.expect("a provider");
        assert_eq!(oidc.label, "Sign in with login.example");
        assert_eq!((oidc.scopes.join(" ").as_str(), oidc.groups_claim.as_str()), ("email profile", "groups"));
        assert!(!oidc.provision && !oidc.allow_http && !oidc.allow_private && oidc.client_secret.is_none());
    }

    #[test]
    fn groups_there_are_groups_here() {
        let text = format!(
            "{LEAST}scopes = [\"openid\", \"groups\"]\ngroups = {{ a = \"mailers\", \"b c\" = \"mailers\" }}\n"
        );
        let oidc = read(&text).oidc.expect("a provider");
        assert_eq!(oidc.scopes, ["groups"]);
        assert_eq!(oidc.groups["mailers"], ["a", "b c"]);
    }

    #[test]
    fn what_would_not_work_is_told_with_its_line() {
        for (text, told) in [
            ("[sign_in]\npasswords = false\n", "c.toml:2:13: passwords are switched off"),
            ("[sign_in.oidc]\nclient_id = \"desk\"\n", "lacks “issuer”"),
            ("[sign_in.oidc]\nissuer = \"https://a.example\"\n", "lacks “client_id”"),
            ("[sign_in.oidc]\nissuer = \"http://a.example\"\nclient_id = \"d\"\n", "plain http"),
            ("[sign_in.oidc]\nissuer = \"https://a.example/?x=1\"\nclient_id = \"d\"\n", "cannot be used"),
            (
                "[sign_in.oidc]\nissuer = \"https://a.example/.well-known/openid-configuration\"\nclient_id = \"d\"\n",
                "expected \"https://a.example\"",
            ),
        ] {
            let said = wrong(text);
            assert!(said.contains(told), "{text}: {said}");
        }
        for (line, told) in [
            ("client_secret = { }", "where the secret is"),
            ("client_secret = \"hush\"", "is a string"),
            ("scopes = [\"a b\"]", "no scope"),
            ("groups = { a = \"no group!\" }", "cannot have this name"),
            ("lable = \"x\"", "did you mean “label”"),
        ] {
            let said = wrong(&format!("{LEAST}{line}\n"));
            assert!(said.contains(told), "{line}: {said}");
            assert!(!said.contains("hush"), "{said}");
        }
    }
}

//! Who decides a held call.

use model::Role;

use super::document::Section;
use super::mistake::Wrong;

/// Who may decide a held call, as an action names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approver {
    /// The person with this lower-case address.
    Person(String),
    /// Everybody with this role.
    Role(Role),
    /// Everybody in this group.
    Group(String),
}

impl Approver {
    /// As it is written in the catalogue.
    pub fn written(&self) -> String {
        match self {
            Self::Person(email) => format!("person:{email}"),
            Self::Role(role) => format!("role:{role}"),
            Self::Group(name) => format!("group:{name}"),
        }
    }
}

const EXPECTED: &str = "person:EMAIL, role:approver, role:operator or group:NAME";

/// Who decides, how many of them, and whether the owner may be one of them.
pub(super) struct Deciders {
    pub(super) approvers: Vec<Approver>,
    pub(super) quorum: u32,
    pub(super) self_approval: bool,
}

impl Deciders {
    /// Reads `approvers`, `quorum` and `self_approval`, and notes when nobody, or too few, could decide.
    pub(super) fn read(section: &Section<'_>) -> Self {
        let mut approvers: Vec<Approver> = Vec::new();
        let written = section.texts("approvers");
        for (text, span) in &written {
            match approver(text) {
                Ok(approver) if approvers.contains(&approver) => {
                    section.notes.add(span, Wrong::new("this approver is named twice"));
                }
                Ok(approver) => approvers.push(approver),
                Err(wrong) => section.notes.add(span, wrong),
            }
        }
        if section.get("approvers").is_some_and(|node| node.to_json() == serde_json::json!([])) {
            section.wrong("approvers", Wrong::new("“approvers” names nobody").expected(EXPECTED));
        }
        let quorum = u32::try_from(section.whole("quorum", 1, 100, 1)).unwrap_or(1);
        let deciders = Self { approvers, quorum, self_approval: section.boolean("self_approval", true) };
        if written.len() == deciders.approvers.len() {
            deciders.check(section);
        }
        deciders
    }

    fn check(&self, section: &Section<'_>) {
        let named = "“approvers” who can";
        if self.approvers.is_empty() && !self.self_approval {
            let message =
                "nobody could decide: without approvers the owner decides, and self_approval is false";
            section.wrong("self_approval", Wrong::absent(message).expected(named));
        } else if self.approvers.is_empty() && self.quorum > 1 {
            let message =
                "nobody could decide: without approvers only the owner decides, and “quorum” is above 1";
            section.wrong("quorum", Wrong::absent(message).expected(named));
        }
        let all_persons = self.approvers.iter().all(|approver| matches!(approver, Approver::Person(_)));
        let persons = u32::try_from(self.approvers.len()).unwrap_or(u32::MAX);
        if all_persons && persons > 0 && self.quorum > persons {
            let message =
                format!("nobody could decide: “quorum” is {}, and “approvers” names {persons}", self.quorum);
            section.wrong("quorum", Wrong::absent(message).expected(format!("at most {persons}")));
        }
    }
}

fn approver(text: &str) -> Result<Approver, Wrong> {
    let unknown = || Wrong::new(format!("“{text}” is no approver")).expected(EXPECTED);
    match text.split_once(':') {
        Some(("person", email)) if email.contains('@') && !email.contains(char::is_whitespace) => {
            Ok(Approver::Person(email.to_lowercase()))
        }
        Some(("group", group)) if !group.trim().is_empty() => Ok(Approver::Group(group.to_owned())),
        Some(("role", "approver")) => Ok(Approver::Role(Role::Approver)),
        Some(("role", "operator")) => Ok(Approver::Role(Role::Operator)),
        Some(("role", role @ ("admin" | "member"))) => {
            Err(Wrong::new(format!("the role {role} does not decide")).expected("role:approver"))
        }
        Some(("role", role)) => Err(unknown().nearest(role, ["approver", "operator"])),
        Some((kind, _)) => Err(unknown().nearest(kind, ["person", "role", "group"])),
        None => Err(unknown()),
    }
}

//! What the provider says of a person.

use openidconnect::core::CoreGenderClaim;
use openidconnect::{
    AdditionalClaims, EndUserEmail, EndUserName, IdTokenClaims, LocalizedClaim, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Claims that the standard does not name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Extra {
    #[serde(flatten)]
    all: Map<String, Value>,
}

impl AdditionalClaims for Extra {}

/// What the provider says of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claims {
    /// Their address, in lower case, and whether the provider has seen that it is theirs.
    pub(super) email: Option<(String, bool)>,
    /// What they are called.
    pub(super) name: Option<String>,
    /// The groups they are in; `None`: it does not say.
    pub(super) groups: Option<Vec<String>>,
}

impl Claims {
    pub(super) fn of_token(claims: &IdTokenClaims<Extra, CoreGenderClaim>, groups_claim: &str) -> Self {
        Self {
            email: email(claims.email(), claims.email_verified()),
            name: name(claims.name()),
            groups: groups(claims.additional_claims(), groups_claim),
        }
    }

    fn of_user_info(claims: &UserInfoClaims<Extra, CoreGenderClaim>, groups_claim: &str) -> Self {
        Self {
            email: email(claims.email(), claims.email_verified()),
            name: name(claims.name()),
            groups: groups(claims.additional_claims(), groups_claim),
        }
    }

    /// With what the provider says elsewhere of what it does not say here. An address and that it is verified are one word.
    pub(super) fn and(self, info: &UserInfoClaims<Extra, CoreGenderClaim>, groups_claim: &str) -> Self {
        let more = Self::of_user_info(info, groups_claim);
        Self {
            email: self.email.or(more.email),
            name: self.name.or(more.name),
            groups: self.groups.or(more.groups),
        }
    }
}

fn email(address: Option<&EndUserEmail>, is_verified: Option<bool>) -> Option<(String, bool)> {
    // Of ASCII alone: a letter that becomes another one elsewhere must not make this address somebody else's.
    Some((address?.as_str().to_ascii_lowercase(), is_verified == Some(true)))
}

fn name(name: Option<&LocalizedClaim<EndUserName>>) -> Option<String> {
    let name = name?;
    let any = || name.iter().next().map(|(_, name)| name);
    name.get(None).or_else(any).map(|name| name.trim().to_owned())
}

/// A list of names, or one name. What is neither says nothing.
fn groups(claims: &Extra, claim: &str) -> Option<Vec<String>> {
    match claims.all.get(claim)? {
        Value::String(one) => Some(vec![one.clone()]),
        Value::Array(many) => many.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(claim: &Value) -> Option<Vec<String>> {
        let Value::Object(all) = json!({ "groups": claim, "sub": "1" }) else { panic!("an object") };
        groups(&Extra { all }, "groups")
    }

    /// A letter outside ASCII never becomes one of an address that is somebody else's.
    #[test]
    fn addresses_are_lowered_within_ascii() {
        let address = |text: &str| email(Some(&EndUserEmail::new(text.to_owned())), Some(true));
        assert_eq!(address("Ann@Desk.test"), Some(("ann@desk.test".to_owned(), true)));
        assert_eq!(address("\u{212a}im@desk.test"), Some(("\u{212a}im@desk.test".to_owned(), true)));
    }

    #[test]
    fn groups_are_names() {
        assert_eq!(said(&json!(["a", "b"])), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(said(&json!("a")), Some(vec!["a".to_owned()]));
        assert_eq!(said(&json!([])), Some(Vec::new()));
        for odd in [json!(null), json!(7), json!({ "a": true }), json!(["a", 7])] {
            assert_eq!(said(&odd), None);
        }
        assert_eq!(groups(&Extra::default(), "groups"), None);
    }
}

//! Making and revoking tokens of one's own.

use leptos::prelude::*;
use model::{Ability, KeyId};

use super::account::changed;
use super::{Fault, Fields, Form, Next, Posted, ShownOnce, visit};

/// Makes a token with these abilities, for so many days; without them for ever. It is shown on this answer alone.
#[server(name = MakeToken, prefix = "/do", endpoint = "token")]
pub(crate) async fn make_token(abilities: Vec<Ability>, days: Option<u32>) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let made = visit.engine.make_own_token(&me, abilities, days).await;
    let not_made = |refusal| {
        let fault = Fault::from(refusal);
        match fault.status {
            422 => {
                Fault { message: "No token was made. Mend what is marked and try again.".to_owned(), ..fault }
            }
            _ => fault,
        }
    };
    let (_, token) = made.map_err(not_made)?;
    Ok(Next::Once(ShownOnce(token.reveal().to_owned(), false)))
}

/// The ticked abilities, and the days.
pub(super) fn read(fields: &Fields) -> Option<MakeToken> {
    let named = |wanted: &'static str| {
        fields.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    let abilities: Option<Vec<Ability>> = named("ability").map(|word| word.parse().ok()).collect();
    let days = match named("days").next()? {
        "" => None,
        days => Some(days.parse().ok()?),
    };
    Some(MakeToken { abilities: abilities?, days })
}

/// Revokes one of the person's own tokens.
#[server(name = RevokeToken, prefix = "/do", endpoint = "revoke-token")]
pub(crate) async fn revoke_token(token: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let gone = || Fault::new(409, "Nothing was changed: that token was revoked already.");
    let id: KeyId = token.parse().map_err(|_| gone())?;
    if visit.engine.revoke_own_token(&me, id).await? { Ok(changed("token")) } else { Err(gone()) }
}

impl Form for MakeToken {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}

impl Form for RevokeToken {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}

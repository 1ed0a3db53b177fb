//! Groups and tenants: making them, and who is in them.

use engine::CircleKind;
use leptos::prelude::*;
use model::Refusal;

use super::{Fault, Form, Next, Posted, visit};

/// Adds a group or a tenant, or somebody to one; or takes somebody out, or the whole of it away. `kind` is `group` or
/// `tenant`, `act` is `add` or `remove`.
#[server(name = Change, prefix = "/do", endpoint = "circle")]
pub(crate) async fn change(
    kind: String,
    act: String,
    name: String,
    email: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let kind = kind_of(&kind).ok_or_else(Fault::unreadable)?;
    let (name, email) = (name.trim(), email.map(|email| email.trim().to_lowercase()));
    let email = email.as_deref().filter(|email| !email.is_empty());
    match act.as_str() {
        "add" => {
            visit.engine.add_to_circle(&me, kind, name, email).await.map_err(not_added)?;
            Ok(Next::Go(format!("{}#{name}", page_of(kind))))
        }
        "remove" => {
            if !visit.engine.remove_from_circle(&me, kind, name, email).await? {
                return Err(Fault::new(
                    409,
                    "Nothing was changed: somebody has removed that already. This is how it stands now.",
                ));
            }
            // Without an address the whole of it is gone, and with it the place on the page.
            let place = email.map(|_| format!("#{name}")).unwrap_or_default();
            Ok(Next::Go(format!("{}{place}", page_of(kind))))
        }
        _ => Err(Fault::unreadable()),
    }
}

fn not_added(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => {
            Fault { errors, ..Fault::new(422, "Nothing was changed. Mend what is marked and try again.") }
        }
        refusal => refusal.into(),
    }
}

fn kind_of(word: &str) -> Option<CircleKind> {
    match word {
        "group" => Some(CircleKind::Group),
        "tenant" => Some(CircleKind::Tenant),
        _ => None,
    }
}

/// Where the circles of this kind are shown.
pub(crate) const fn page_of(kind: CircleKind) -> &'static str {
    match kind {
        CircleKind::Group => "/people/groups",
        CircleKind::Tenant => "/people/tenants",
    }
}

impl Form for Change {
    fn page(posted: &Posted) -> String {
        page_of(kind_of(&posted.typed("kind")).unwrap_or(CircleKind::Tenant)).to_owned()
    }
}

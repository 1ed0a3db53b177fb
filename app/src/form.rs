//! The forms: server functions behind plain HTML forms.
//!
//! Success is a redirect. A fault is answered with the page itself, beside the field, with what was typed kept; nothing
//! of it ever stands in an address.

mod account;
mod agent;
mod browser;
mod circle;
mod decide;
mod delegate;
mod fault;
mod grant;
mod invite;
mod join;
mod many;
mod next;
mod notices;
mod overriding;
mod passkey;
mod password;
mod pause;
mod person;
mod posted;
mod provider;
mod revoke;
mod run;
mod session;
mod settle;
mod shown_once;
mod sign_in;
mod sign_out;
mod token;
mod undo;
mod withdraw;

use std::sync::Arc;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use agent::ABILITIES;
pub use agent::MadeKey;
pub(crate) use circle::page_of as circles_page;
pub(crate) use decide::REPLIES;
pub use fault::Fault;
pub(crate) use grant::{MINUTES, ticked};
pub use many::Told;
pub(crate) use many::{many_fault, picks};
pub use next::Next;
pub use posted::Posted;
pub(crate) use provider::way_to_provider;
pub use provider::{after_sign_in, not_signed_in, sign_in_page};
pub(crate) use run::{ADD, REMOVE, offered, pressed};
pub use shown_once::ShownOnce;

use crate::page::in_owner;
use crate::visit::Visit;

/// Where the form to sign in is posted to.
pub const SIGN_IN: &str = "/do/sign-in";
/// Where a sign-in through the provider begins: a link, followed with GET.
pub const PROVIDER: &str = "/sign-in/oidc";
/// Where the form to sign out is posted to.
pub const SIGN_OUT: &str = "/do/sign-out";
/// Where a decision is posted to.
pub const DECIDE: &str = "/do/decide";
/// Where taking back a Confirm is posted to.
pub const UNDO: &str = "/do/undo";
/// Where the form of an action is posted to.
pub const RUN: &str = "/do/run";
/// Where taking a held call back is posted to.
pub const WITHDRAW: &str = "/do/withdraw";
/// Where telling how a call in doubt ended is posted to.
pub const SETTLE: &str = "/do/settle";
/// Where changes of groups and tenants are posted to.
pub const CIRCLE: &str = "/do/circle";
/// Where pausing and resuming are posted to.
pub const PAUSE: &str = "/do/pause";
/// Where revoking an agent or a key is posted to.
pub const REVOKE: &str = "/do/revoke";
/// Where a new agent, or a further key of one, is posted to.
pub const AGENT: &str = "/do/agent";

/// Where changes of how somebody is told are posted to.
pub const NOTICES: &str = "/do/notices";
/// Where a browser that wants to be told is posted to.
pub const BROWSER: &str = "/do/browser";

/// Where one's own name and time zone are posted to.
pub const ACCOUNT: &str = "/do/account";
/// Where one's own new password is posted to.
pub const PASSWORD: &str = "/do/password";
/// Where signing in with a passkey is posted to.
pub const PASSKEY_SIGN_IN: &str = "/do/passkey-sign-in";
/// Where changes of one's own passkeys are posted to.
pub const PASSKEY: &str = "/do/passkey";
/// Where proving anew who one is is posted to.
pub const PROVE: &str = "/do/prove";
/// Where ending one's own sessions is posted to.
pub const SESSION: &str = "/do/session";
/// Where making a token of one's own is posted to.
pub const TOKEN: &str = "/do/token";
/// Where revoking one is posted to.
pub const REVOKE_TOKEN: &str = "/do/revoke-token";

/// Where inviting somebody is posted to.
pub const INVITE: &str = "/do/invite";
/// Where taking an invitation back is posted to.
pub const WITHDRAW_INVITATION: &str = "/do/withdraw-invitation";
/// Where the account that an invitation offers is made.
pub const JOIN: &str = "/do/join";
/// Where the first admin is made.
pub const SET_UP: &str = "/do/set-up";
/// Where a person's roles are posted to.
pub const ROLES: &str = "/do/roles";
/// Where disabling a person is posted to.
pub const DISABLE: &str = "/do/disable";
/// Where enabling a person again is posted to.
pub const ENABLE: &str = "/do/enable";

/// Where letting through more calls like one is posted to.
pub const GRANT: &str = "/do/grant";
/// Where revoking that is posted to.
pub const REVOKE_GRANT: &str = "/do/revoke-grant";

/// Where one word on several held calls is posted to.
pub const MANY: &str = "/do/many";

/// Where letting somebody decide in one's place is posted to.
pub const DELEGATE: &str = "/do/delegate";
/// Where ending that is posted to.
pub const END_DELEGATION: &str = "/do/end-delegation";
/// Where overriding those who decide a call is posted to.
pub const OVERRIDE: &str = "/do/override";

/// Every address that takes a form.
pub const ALL: &[&str] = &[
    SIGN_IN,
    SIGN_OUT,
    DECIDE,
    UNDO,
    RUN,
    WITHDRAW,
    SETTLE,
    CIRCLE,
    PAUSE,
    REVOKE,
    AGENT,
    NOTICES,
    BROWSER,
    ACCOUNT,
    PASSWORD,
    PASSKEY_SIGN_IN,
    PASSKEY,
    PROVE,
    SESSION,
    TOKEN,
    REVOKE_TOKEN,
    INVITE,
    WITHDRAW_INVITATION,
    JOIN,
    SET_UP,
    ROLES,
    DISABLE,
    ENABLE,
    MANY,
    DELEGATE,
    END_DELEGATION,
    OVERRIDE,
    GRANT,
    REVOKE_GRANT,
];

/// The fields of a form as they came, in order.
pub type Fields = Vec<(String, String)>;

/// What comes of a form.
pub enum Submitted {
    /// It was taken.
    Next(Next),
    /// Show the page at this address again, with what was posted and this status.
    Again {
        /// The page with the form.
        address: String,
        /// What was posted, and what was wrong with it.
        posted: Box<Posted>,
    },
}

/// Takes a form in. `None`: nothing takes forms at this path.
pub async fn post(path: &str, visit: Visit, fields: Fields) -> Option<Submitted> {
    Some(match path {
        SIGN_IN => submit::<sign_in::SignIn>(path, visit, fields, read).await,
        SIGN_OUT => submit::<sign_out::SignOut>(path, visit, fields, read).await,
        DECIDE => submit::<decide::Decide>(path, visit, fields, read).await,
        UNDO => submit::<undo::Undo>(path, visit, fields, read).await,
        RUN => submit::<run::Run>(path, visit, fields, run::read).await,
        WITHDRAW => submit::<withdraw::Withdraw>(path, visit, fields, read).await,
        SETTLE => submit::<settle::Settle>(path, visit, fields, read).await,
        CIRCLE => submit::<circle::Change>(path, visit, fields, read).await,
        PAUSE => submit::<pause::Pause>(path, visit, fields, read).await,
        REVOKE => submit::<revoke::Revoke>(path, visit, fields, read).await,
        AGENT => submit::<agent::Add>(path, visit, fields, agent::read).await,
        NOTICES => submit::<notices::Notices>(path, visit, fields, read).await,
        ACCOUNT => submit::<account::ChangeAccount>(path, visit, fields, read).await,
        PASSWORD => submit::<password::ChangePassword>(path, visit, fields, read).await,
        PASSKEY_SIGN_IN => submit::<passkey::PasskeySignIn>(path, visit, fields, read).await,
        PASSKEY => submit::<passkey::ChangePasskey>(path, visit, fields, read).await,
        PROVE => submit::<passkey::Prove>(path, visit, fields, read).await,
        SESSION => submit::<session::EndSession>(path, visit, fields, read).await,
        TOKEN => submit::<token::MakeToken>(path, visit, fields, token::read).await,
        REVOKE_TOKEN => submit::<token::RevokeToken>(path, visit, fields, read).await,
        INVITE => submit::<invite::Invite>(path, visit, fields, invite::read).await,
        WITHDRAW_INVITATION => submit::<invite::WithdrawInvitation>(path, visit, fields, read).await,
        JOIN => submit::<join::Join>(path, visit, fields, read).await,
        SET_UP => submit::<join::SetUp>(path, visit, fields, read).await,
        ROLES => submit::<person::SetRoles>(path, visit, fields, person::read).await,
        DISABLE => submit::<person::Disable>(path, visit, fields, read).await,
        ENABLE => submit::<person::Enable>(path, visit, fields, read).await,
        GRANT => submit::<grant::Allow>(path, visit, fields, grant::read).await,
        REVOKE_GRANT => submit::<grant::RevokeGrant>(path, visit, fields, read).await,
        MANY => submit::<many::Many>(path, visit, fields, many::read).await,
        BROWSER => submit::<browser::Tell>(path, visit, fields, read).await,
        DELEGATE => submit::<delegate::Delegate>(path, visit, fields, read).await,
        END_DELEGATION => submit::<delegate::EndDelegation>(path, visit, fields, read).await,
        OVERRIDE => submit::<overriding::Override>(path, visit, fields, read).await,
        _ => return None,
    })
}

/// A server function as a form: where the page stands that shows it.
trait Form: ServerFn<Output = Next, Error = Fault> {
    /// The address of the page that shows this form with these fields.
    fn page(fields: &Posted) -> String;
}

/// Reads the fields, runs the server function for this visit, and tells what comes of it.
async fn submit<F: Form>(
    path: &str,
    visit: Visit,
    fields: Fields,
    read: fn(&Fields) -> Option<F>,
) -> Submitted {
    let arguments = read(&fields);
    let mut posted = Posted {
        form: path.to_owned(),
        fields,
        fault: None,
        answer: None,
        made: None,
        once: None,
        told: Vec::new(),
    };
    let outcome = match arguments {
        Some(arguments) => {
            let run = || {
                provide_context(visit);
                arguments.run_body()
            };
            in_owner(Owner::new_root(None), run).await
        }
        None => Err(Fault::unreadable()),
    };
    match outcome {
        Ok(Next::Show(answer)) => posted.answer = Some(answer),
        Ok(Next::Made(key)) => posted.made = Some(key),
        Ok(Next::Once(secret)) => posted.once = Some(secret),
        Ok(Next::Fill(fields)) => posted.fields = fields,
        Ok(Next::Told(told)) => posted.told = told,
        Ok(next) => return Submitted::Next(next),
        Err(fault) => posted.fault = Some(fault),
    }
    Submitted::Again { address: F::page(&posted), posted: Box::new(posted) }
}

/// The arguments of a server function out of a form's fields, by name.
fn read<F: DeserializeOwned>(fields: &Fields) -> Option<F> {
    let arguments: Map<String, Value> =
        fields.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
    serde_json::from_value(Value::Object(arguments)).ok()
}

/// The visit of the server function that runs.
fn visit() -> Result<Visit, Fault> {
    Visit::here().ok_or_else(Fault::unreadable)
}

/// The visit again, showing what was posted.
impl Visit {
    /// The same visit, at the page that shows the form again.
    #[must_use]
    pub fn again(mut self, address: String, posted: Posted) -> Self {
        self.address = address;
        self.posted = Some(Arc::new(posted));
        self
    }
}

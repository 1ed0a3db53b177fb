//! Mail, over SMTP.

use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use model::PersonId;

use super::NotDelivered;
use super::words::Words;
use crate::catalogue::{MailSecurity, MailSettings};
use crate::engine::Engine;
use crate::store::NoticeRow;

/// How long the server may take for each answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A mail server's word that there is no such mailbox, or that it will never take this.
const FINAL: [&str; 4] = ["550", "551", "553", "554"];

impl Engine {
    pub(super) async fn send_mail(&self, notice: &NoticeRow, words: &Words) -> Result<(), NotDelivered> {
        let Some(settings) = self.catalogue().mail.clone() else {
            return Err(NotDelivered::Never("The catalogue has no mail server.".to_owned()));
        };
        let person = notice.addressee.parse::<PersonId>().ok();
        let person = match person {
            Some(id) => self.store().person(id).await.map_err(|error| later(&error))?,
            None => None,
        };
        let Some(person) = person.filter(|person| person.disabled_at.is_none()) else {
            return Err(NotDelivered::Never("There is nobody to send it to.".to_owned()));
        };
        let never = || NotDelivered::Never("The address is none that mail can be sent to.".to_owned());
        let to: Address = person.email.parse().map_err(|_| never())?;
        let from: Address = settings.from.parse().map_err(|_| never())?;
        let message = Message {
            id: &notice.id.to_string(),
            from: &settings.from,
            from_name: settings.from_name.as_deref(),
            to: &person.email,
            date: self.now().to_chrono().to_rfc2822(),
            words,
            desk: &self.public_url(),
        };
        let message = message.written().ok_or_else(never)?;
        let envelope = Envelope::new(Some(from), vec![to]).map_err(|_| never())?;
        let transport = self.mail_server(&settings)?;
        transport.send_raw(&envelope, message.as_bytes()).await.map(drop).map_err(|error| refused(&error))
    }

    fn mail_server(
        &self,
        settings: &MailSettings,
    ) -> Result<AsyncSmtpTransport<Tokio1Executor>, NotDelivered> {
        let tls = |_| NotDelivered::Later("TLS could not be set up for the mail server.".to_owned());
        let mut parameters = TlsParameters::builder(settings.host.clone());
        if let Some(pem) = self.roots() {
            parameters = parameters.add_root_certificate(Certificate::from_pem(pem).map_err(tls)?);
        }
        let tls = match settings.security {
            MailSecurity::Tls => Tls::Wrapper(parameters.build_rustls().map_err(tls)?),
            MailSecurity::StartTls => Tls::Required(parameters.build_rustls().map_err(tls)?),
            MailSecurity::None => Tls::None,
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(settings.host.clone())
            .port(settings.port)
            .timeout(Some(PATIENCE))
            .tls(tls);
        if let Some(host) = self.catalogue().server.public_url.domain() {
            builder = builder.hello_name(ClientId::Domain(host.to_owned()));
        }
        if let (Some(user), Some(variable)) = (&settings.user, &settings.password) {
            let password = std::env::var(variable).map_err(|_| {
                NotDelivered::Later(format!(
                    "The environment variable {variable} with the mail server's password is not set."
                ))
            })?;
            builder = builder.credentials(Credentials::new(user.clone(), password));
        }
        Ok(builder.build())
    }
}

/// A mail, before it is written.
struct Message<'m> {
    id: &'m str,
    from: &'m str,
    from_name: Option<&'m str>,
    to: &'m str,
    date: String,
    words: &'m Words,
    desk: &'m str,
}

impl Message<'_> {
    /// As it is sent (RFC 5322). `None`: a value could not stand in a header without being another one.
    fn written(&self) -> Option<String> {
        let from =
            self.from_name.map_or_else(|| self.from.to_owned(), |name| format!("\"{name}\" <{}>", self.from));
        let domain = self.from.rsplit_once('@').map_or("countersign.invalid", |(_, domain)| domain);
        let headers = [
            ("From", from),
            ("To", self.to.to_owned()),
            ("Subject", self.words.title.clone()),
            ("Date", self.date.clone()),
            ("Message-ID", format!("<{}@{domain}>", self.id)),
            ("Auto-Submitted", "auto-generated".to_owned()),
            ("MIME-Version", "1.0".to_owned()),
            ("Content-Type", "text/plain; charset=us-ascii".to_owned()),
            ("Content-Transfer-Encoding", "7bit".to_owned()),
        ];
        let mut message = String::new();
        for (name, value) in headers {
            if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return None;
            }
            message.extend([name, ": ", &value, "\r\n"]);
        }
        message.push_str("\r\n");
        message.push_str(&self.words.mail(self.desk));
        message.is_ascii().then_some(message)
    }
}

fn later(error: &impl std::fmt::Display) -> NotDelivered {
    tracing::error!(%error, "a notice could not be made");
    NotDelivered::Later("The database did not answer.".to_owned())
}

/// What the server said, as its number alone: its words could repeat the address.
fn refused(error: &lettre::transport::smtp::Error) -> NotDelivered {
    tracing::warn!(%error, "the mail server did not take a notice");
    match error.status().map(|code| code.to_string()) {
        Some(code) if FINAL.contains(&code.as_str()) => {
            NotDelivered::Never(format!("The mail server refused it ({code})."))
        }
        Some(code) => NotDelivered::Later(format!("The mail server did not take it ({code}).")),
        None if error.is_tls() => {
            NotDelivered::Later("The mail server could not be trusted: the TLS handshake failed.".to_owned())
        }
        None => NotDelivered::Later("The mail server could not be reached.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::Kind;

    fn written(to: &str) -> Option<String> {
        let words = Words::of(Kind::Test, &[], "you", chrono_tz::Tz::UTC);
        let message = Message {
            id: "ntc_1",
            from: "desk@house.example",
            from_name: Some("Countersign"),
            to,
            date: "Mon, 30 Nov 2026 09:30:00 +0000".to_owned(),
            words: &words,
            desk: "https://desk.example",
        };
        message.written()
    }

    #[test]
    fn a_mail_is_plain_text() {
        insta::assert_snapshot!(written("ann@house.example").expect("a mail").replace("\r\n", "\n"), @r#"
        From: "Countersign" <desk@house.example>
        To: ann@house.example
        Subject: A test notice from Countersign
        Date: Mon, 30 Nov 2026 09:30:00 +0000
        Message-ID: <ntc_1@house.example>
        Auto-Submitted: auto-generated
        MIME-Version: 1.0
        Content-Type: text/plain; charset=us-ascii
        Content-Transfer-Encoding: 7bit

        A test notice from Countersign. Notices arrive here. Nothing waits because of this one.

        Look at it here:
        https://desk.example/inbox

        The page asks you to sign in. Opening it decides nothing.

        How and when you are told:
        https://desk.example/account/notices
        "#);
    }

    #[test]
    fn nothing_adds_a_header() {
        for to in ["a@b.example\r\nBcc: x@evil.example", "a@b.example\nX: y", "a\0@b.example", "é@b.example"]
        {
            assert_eq!(written(to), None, "{to:?}");
        }
    }
}

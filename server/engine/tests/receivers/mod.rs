//! Where notices arrive: a mail server and a push service, each a real listener on loopback.

#![allow(dead_code, unreachable_pub, reason = "every test file uses its own part")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use engine::notice::NewBrowser;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// One mail as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The envelope's recipients.
    pub to: Vec<String>,
    /// Headers and text.
    pub text: String,
    /// User and password, when somebody signed in.
    pub signed_in: Option<(String, String)>,
}

/// A mail server.
pub struct MailServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    mails: Mutex<Vec<Mail>>,
    tries: Mutex<usize>,
    /// What every mail is answered with; `None`: it is taken.
    refusal: Mutex<Option<&'static str>>,
}

impl MailServer {
    pub async fn start() -> Self {
        Self::serving(None).await
    }

    /// One that speaks TLS from the first byte on, and the PEM of whom to trust for it.
    pub async fn start_tls() -> (Self, String) {
        let (pem, acceptor) = authority_and_acceptor();
        (Self::serving(Some(acceptor)).await, pem)
    }

    async fn serving(acceptor: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        let accepting = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, acceptor) = (accepting.clone(), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                speak(stream, shared).await;
                            }
                        }
                        None => {
                            speak(stream, shared).await;
                        }
                    }
                });
            }
        });
        Self { address, shared }
    }

    pub fn mails(&self) -> Vec<Mail> {
        self.shared.mails.lock().expect("lock").clone()
    }

    /// Whom each mail went to, sorted.
    pub fn recipients(&self) -> Vec<String> {
        let mut all: Vec<String> = self.mails().into_iter().flat_map(|mail| mail.to).collect();
        all.sort();
        all
    }

    /// How many mails were offered, taken or not.
    pub fn tries(&self) -> usize {
        *self.shared.tries.lock().expect("lock")
    }

    /// Answers every mail with this from now on.
    pub fn refuse(&self, answer: Option<&'static str>) {
        *self.shared.refusal.lock().expect("lock") = answer;
    }
}

/// SMTP, as far as one mail needs it (RFC 5321).
async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin, shared: Arc<Shared>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let (mut to, mut signed_in) = (Vec::new(), None);
    stream.write_all(b"220 mail.test\r\n").await.ok()?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        let verb = line.split(' ').next().unwrap_or_default().to_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => "250-mail.test\r\n250 AUTH PLAIN\r\n".to_owned(),
            "AUTH" => {
                let given = STANDARD.decode(line.rsplit(' ').next()?).ok()?;
                let parts: Vec<String> = given
                    .split(|byte| *byte == 0)
                    .map(|part| String::from_utf8_lossy(part).into_owned())
                    .collect();
                signed_in = Some((parts[1].clone(), parts[2].clone()));
                "235 welcome\r\n".to_owned()
            }
            "RCPT" => {
                to.push(line.split(['<', '>']).nth(1)?.to_owned());
                "250 ok\r\n".to_owned()
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await.ok()?;
                let mut text = String::new();
                while !text.ends_with("\r\n.\r\n") {
                    if stream.read_line(&mut text).await.ok()? == 0 {
                        return None;
                    }
                }
                *shared.tries.lock().expect("lock") += 1;
                let refusal = *shared.refusal.lock().expect("lock");
                if let Some(refusal) = refusal {
                    format!("{refusal}\r\n")
                } else {
                    let mail = Mail { to: std::mem::take(&mut to), text, signed_in: signed_in.clone() };
                    shared.mails.lock().expect("lock").push(mail);
                    "250 taken\r\n".to_owned()
                }
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n").await.ok()?;
                return None;
            }
            _ => "250 ok\r\n".to_owned(),
        };
        stream.write_all(answer.as_bytes()).await.ok()?;
        stream.flush().await.ok()?;
    }
}

/// An authority of its own, and an acceptor with a certificate of it for 127.0.0.1.
fn authority_and_acceptor() -> (String, TlsAcceptor) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(certificate)],
            PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
        )
        .expect("a certificate and its key");
    (authority.pem(), TlsAcceptor::from(Arc::new(config)))
}

/// One message as a push service gets it.
#[derive(Debug, Clone)]
pub struct Pushed {
    /// Request line and headers.
    pub head: String,
    /// The encrypted body.
    pub body: Vec<u8>,
}

impl Pushed {
    /// A header's value; empty where it is missing.
    pub fn header(&self, name: &str) -> String {
        let line = self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        });
        line.unwrap_or_default()
    }
}

/// A push service.
pub struct PushService {
    pub address: SocketAddr,
    pushed: Arc<Mutex<Vec<Pushed>>>,
    status: Arc<Mutex<u16>>,
}

impl PushService {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (pushed, status) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(201)));
        let (into, answer) = (pushed.clone(), status.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(message) = received(&mut stream).await else { continue };
                into.lock().expect("lock").push(message);
                let status: u16 = *answer.lock().expect("lock");
                let text = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        Self { address, pushed, status }
    }

    pub fn pushed(&self) -> Vec<Pushed> {
        self.pushed.lock().expect("lock").clone()
    }

    pub fn answer(&self, status: u16) {
        *self.status.lock().expect("lock") = status;
    }

    pub fn endpoint(&self, name: &str) -> String {
        format!("http://{}/push/{name}", self.address)
    }
}

async fn received(stream: &mut tokio::net::TcpStream) -> Option<Pushed> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    while bytes.len() < head_end + 4 + length.unwrap_or(0) {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(Pushed { head, body: bytes[head_end + 4..].to_vec() })
}

/// A browser's subscription. Its private key can be used once.
pub struct Browser {
    secret: EphemeralPrivateKey,
    public: Vec<u8>,
    auth: [u8; 16],
}

impl Browser {
    pub fn new() -> Self {
        let secret = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).expect("a key");
        let public = secret.compute_public_key().expect("a point").as_ref().to_vec();
        Self { secret, public, auth: *b"sixteen bytes ok" }
    }

    /// What its script tells the desk.
    pub fn subscription(&self, endpoint: String) -> NewBrowser {
        NewBrowser {
            endpoint,
            p256dh: URL_SAFE_NO_PAD.encode(&self.public),
            auth: URL_SAFE_NO_PAD.encode(self.auth),
            label: "Firefox on Linux".to_owned(),
        }
    }

    /// The text of a message (RFC 8291, section 3.4; RFC 8188, section 2).
    pub fn read(self, body: &[u8]) -> String {
        let (salt, rest) = body.split_at(16);
        assert_eq!(rest[4], 65, "the sender's key is a point");
        let (theirs, record) = (&rest[5..70], &rest[70..]);
        let info = [b"WebPush: info\0".as_slice(), &self.public, theirs].concat();
        let peer = UnparsedPublicKey::new(&ECDH_P256, theirs);
        let ikm = agree_ephemeral(self.secret, &peer, |shared| expand(&self.auth, shared, &info, 32))
            .expect("a secret");
        let key = expand(salt, &ikm, b"Content-Encoding: aes128gcm\0", 16);
        let nonce = expand(salt, &ikm, b"Content-Encoding: nonce\0", 12);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).expect("a key"));
        let nonce = Nonce::try_assume_unique_for_key(&nonce).expect("a nonce");
        let mut plain = record.to_vec();
        let plain = key.open_in_place(nonce, Aad::empty(), &mut plain).expect("it opens");
        assert_eq!(plain.last(), Some(&2), "the last record");
        String::from_utf8(plain[..plain.len() - 1].to_vec()).expect("text")
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(salt: &[u8], secret: &[u8], info: &[u8], length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    let pseudorandom = Salt::new(HKDF_SHA256, salt).extract(secret);
    pseudorandom.expand(&[info], Length(length)).expect("a length").fill(&mut out).expect("filled");
    out
}

//! A provider on loopback with a key of its own, that signs what it is told to: a right word, or a wrong one.

#![allow(unreachable_pub, reason = "one test file uses it")]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use engine::provider::{Begun, Return};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::{Url, form_urlencoded};

pub const CLIENT: &str = "desk";
pub const SECRET: &str = "hush/hush+hush";

const ACCESS_TOKEN: &str = "opaque-access-token";

/// How a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signed {
    /// With the key that the provider names.
    #[default]
    Right,
    /// With another key, under the same name.
    ByAnother,
    /// With another key, under its own name.
    ByUnnamed,
    /// Not at all.
    NotAtAll,
    /// As if the public key were a shared secret.
    WithPublicKey,
    /// With the secret that the desk and the provider share.
    WithClientSecret,
}

/// What the provider says.
#[derive(Debug, Clone, Default)]
pub struct Says {
    /// Over what it would say by itself; `null`: it does not say that.
    pub claims: Map<String, Value>,
    /// Elsewhere.
    pub user_info: Map<String, Value>,
    pub signed: Signed,
    /// It answers nothing but this.
    pub down: Option<u16>,
}

/// The provider.
pub struct Issuer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    key: Mutex<EcdsaKeyPair>,
    kid: Mutex<String>,
    another: EcdsaKeyPair,
    says: Mutex<Says>,
    /// What each code was given for: nonce, challenge, and what is said of its person.
    codes: Mutex<HashMap<String, (String, String, Says)>>,
    seen: Mutex<Vec<String>>,
    names_itself: Mutex<bool>,
}

fn fresh_key() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).expect("a key")
}

impl Issuer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            key: Mutex::new(fresh_key()),
            kid: Mutex::new("first".to_owned()),
            another: fresh_key(),
            says: Mutex::default(),
            codes: Mutex::default(),
            seen: Mutex::default(),
            names_itself: Mutex::default(),
        });
        let accepting = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = accepting.clone();
                tokio::spawn(async move { serve(stream, address, &shared).await });
            }
        });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The table of the catalogue.
    pub fn table(&self, more: &str) -> String {
        let url = self.url();
        format!(
            "[sign_in.oidc]\nissuer = \"{url}\"\nclient_id = \"{CLIENT}\"\nclient_secret = {{ store = true }}\n\
             allow_http = true\nallow_private = true\n{more}\n"
        )
    }

    pub fn says(&self, says: Says) {
        *self.shared.says.lock().expect("lock") = says;
    }

    /// Signs with another key from now on, and names it.
    pub fn rotate(&self) {
        *self.shared.key.lock().expect("lock") = fresh_key();
        "second".clone_into(&mut self.shared.kid.lock().expect("lock"));
    }

    /// Its answers name it from now on, and it says so.
    pub fn name_itself(&self) {
        *self.shared.names_itself.lock().expect("lock") = true;
    }

    /// What it was asked, each with its head.
    pub fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().expect("lock").clone()
    }

    /// Its person agrees, of whom it says what it says now: what their browser brings back.
    pub fn agrees(&self, begun: &Begun) -> Return {
        let url = Url::parse(&begun.to).expect("an address");
        assert!(begun.to.starts_with(&format!("{}/authorize?", self.url())), "{}", begun.to);
        let asked: HashMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!(
            (asked["response_type"].as_str(), asked["code_challenge_method"].as_str()),
            ("code", "S256")
        );
        assert_eq!((asked["client_id"].as_str(), &asked["state"]), (CLIENT, &begun.state));
        assert!(asked["redirect_uri"].ends_with("/sign-in/oidc/callback"), "{asked:?}");
        let code = format!("code-{}", begun.state);
        let says = self.shared.says.lock().expect("lock").clone();
        let given = (asked["nonce"].clone(), asked["code_challenge"].clone(), says);
        self.shared.codes.lock().expect("lock").insert(code.clone(), given);
        Return {
            state: Some(begun.state.clone()),
            pass: Some(begun.pass.clone()),
            code: Some(code),
            error: None,
            issuer: None,
        }
    }
}

async fn serve(mut stream: TcpStream, address: SocketAddr, shared: &Shared) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let (head, body) = loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
                break (head.to_owned(), body.to_owned());
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    shared.seen.lock().expect("lock").push(head.clone());
    let (status, body) = answer(&head, &body, address, shared);
    let response = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.to_string().len()
    );
    let _ = stream.write_all(response.as_bytes()).await;
}

fn answer(head: &str, body: &str, address: SocketAddr, shared: &Shared) -> (u16, Value) {
    let says = shared.says.lock().expect("lock").clone();
    if let Some(status) = says.down {
        return (status, json!({ "error": "server_error" }));
    }
    let url = format!("http://{address}");
    match head.split(' ').nth(1).unwrap_or_default() {
        "/.well-known/openid-configuration" => (200, document(&url, shared)),
        "/jwks" => (200, json!({ "keys": [public(shared)] })),
        "/token" => token(head, body, &url, shared),
        "/me" if head.contains(&format!("Bearer {ACCESS_TOKEN}")) => (200, user_info(says)),
        _ => (404, json!({})),
    }
}

/// What is said of the person of the token that was made last.
fn user_info(says: Says) -> Value {
    let subject = says.claims.get("sub").cloned().unwrap_or_else(|| json!("subject-1"));
    let mut told = Map::from_iter([("sub".to_owned(), subject)]);
    told.extend(says.user_info);
    Value::Object(told)
}

fn document(url: &str, shared: &Shared) -> Value {
    json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "userinfo_endpoint": format!("{url}/me"),
        "jwks_uri": format!("{url}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256", "HS256", "none"],
        "authorization_response_iss_parameter_supported": *shared.names_itself.lock().expect("lock"),
    })
}

fn public(shared: &Shared) -> Value {
    let key = shared.key.lock().expect("lock");
    let point = key.public_key().as_ref();
    let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
    json!({ "kty": "EC", "crv": "P-256", "use": "sig", "kid": *shared.kid.lock().expect("lock"), "x": x, "y": y })
}

/// The code's own, once, for whoever began and is the client.
fn token(head: &str, body: &str, url: &str, shared: &Shared) -> (u16, Value) {
    let encoded: String = form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
    let proof = format!("authorization: Basic {}", STANDARD.encode(format!("{CLIENT}:{encoded}")));
    if !head.contains(&proof) {
        return (401, json!({ "error": "invalid_client" }));
    }
    let fields: HashMap<String, String> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let given = shared.codes.lock().expect("lock").remove(&fields["code"]);
    let verifier = Sha256::digest(fields["code_verifier"].as_bytes());
    let challenge = URL_SAFE_NO_PAD.encode(verifier);
    let Some((nonce, _, says)) = given.filter(|(_, asked, _)| *asked == challenge) else {
        return (400, json!({ "error": "invalid_grant", "error_description": "secret words" }));
    };
    let token = signed(url, &nonce, &says, shared);
    (
        200,
        json!({ "access_token": ACCESS_TOKEN, "token_type": "Bearer", "expires_in": 60, "id_token": token }),
    )
}

fn signed(url: &str, nonce: &str, says: &Says, shared: &Shared) -> String {
    let now = engine::ambient::Ambient::system().now().micros() / 1_000_000;
    let half = &Sha256::digest(ACCESS_TOKEN)[..16];
    let claims = json!({
        "iss": url, "aud": CLIENT, "sub": "subject-1", "nonce": nonce, "iat": now, "exp": now + 300,
        "at_hash": URL_SAFE_NO_PAD.encode(half), "email": "ann@desk.test", "email_verified": true,
    });
    let Value::Object(mut claims) = claims else { unreachable!() };
    claims.extend(says.claims.clone());
    claims.retain(|_, value| !value.is_null());
    let algorithm = match says.signed {
        Signed::Right | Signed::ByAnother | Signed::ByUnnamed => "ES256",
        Signed::NotAtAll => "none",
        Signed::WithPublicKey | Signed::WithClientSecret => "HS256",
    };
    let kid = match says.signed {
        Signed::ByUnnamed => "unnamed".to_owned(),
        _ => shared.kid.lock().expect("lock").clone(),
    };
    let header = json!({ "alg": algorithm, "kid": kid, "typ": "JWT" });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let input = format!("{}.{}", part(&header), part(&Value::Object(claims)));
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature(&input, says.signed, shared)))
}

fn signature(input: &str, signed: Signed, shared: &Shared) -> Vec<u8> {
    let random = SystemRandom::new();
    let hmac = |key: &[u8]| {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key);
        ring::hmac::sign(&key, input.as_bytes()).as_ref().to_vec()
    };
    let key = shared.key.lock().expect("lock");
    let pair = match signed {
        Signed::Right => &*key,
        Signed::ByAnother | Signed::ByUnnamed => &shared.another,
        Signed::NotAtAll => return Vec::new(),
        Signed::WithPublicKey => return hmac(key.public_key().as_ref()),
        Signed::WithClientSecret => return hmac(SECRET.as_bytes()),
    };
    pair.sign(&random, input.as_bytes()).expect("signed").as_ref().to_vec()
}

//! The message that only one browser can read: `aes128gcm` in one record (RFC 8291, RFC 8188).

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;

/// The size of the one record; every message is smaller.
const RECORD: u32 = 4_096;

/// Ends the one and last record (RFC 8188, section 2).
const LAST: u8 = 2;

/// Encrypts for the browser with this public key and authentication secret, with a key that is used once. `None`: the
/// browser's key is no point of the curve, or the message is too long.
pub(super) fn encrypt(plain: &[u8], browser: &[u8; 65], auth: &[u8; 16], salt: [u8; 16]) -> Option<Vec<u8>> {
    let secret = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).ok()?;
    let public: [u8; 65] = secret.compute_public_key().ok()?.as_ref().try_into().ok()?;
    let theirs = UnparsedPublicKey::new(&ECDH_P256, browser);
    agree_ephemeral(secret, &theirs, |shared| sealed(plain, shared, browser, &public, auth, &salt)).ok()?
}

/// The rest, once both sides share a secret.
fn sealed(
    plain: &[u8],
    shared: &[u8],
    browser: &[u8; 65],
    desk: &[u8; 65],
    auth: &[u8; 16],
    salt: &[u8; 16],
) -> Option<Vec<u8>> {
    if plain.len() + 1 + AES_128_GCM.tag_len() > RECORD as usize {
        return None;
    }
    let info = [b"WebPush: info\0".as_slice(), browser, desk].concat();
    let ikm: [u8; 32] = expanded(auth, shared, &info)?;
    let key: [u8; 16] = expanded(salt, &ikm, b"Content-Encoding: aes128gcm\0")?;
    let nonce: [u8; 12] = expanded(salt, &ikm, b"Content-Encoding: nonce\0")?;
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
    let mut record = [plain, &[LAST]].concat();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record).ok()?;
    let length = [u8::try_from(desk.len()).ok()?];
    Some([salt.as_slice(), &RECORD.to_be_bytes(), &length, desk, &record].concat())
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF with SHA-256.
fn expanded<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> Option<[u8; N]> {
    let mut out = [0; N];
    let pseudorandom = Salt::new(HKDF_SHA256, salt).extract(secret);
    pseudorandom.expand(&[info], Length(N)).ok()?.fill(&mut out).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        URL_SAFE_NO_PAD.decode(text).expect("base64url").try_into().expect("the length")
    }

    /// RFC 8291, appendix A, from the shared secret on: keys that are used once cannot be brought along.
    #[test]
    fn the_example_of_the_standard() {
        let body = sealed(
            b"When I grow up, I want to be a watermelon",
            &bytes::<32>("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
            &bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
            &bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"),
            &bytes("BTBZMqHH6r4Tts7J_aSIgg"),
            &bytes("DGv6ra1nlYgDCS1FRnbzlw"),
        );
        assert_eq!(
            URL_SAFE_NO_PAD.encode(body.expect("a message")),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn what_is_no_point_or_too_long_is_refused() {
        assert_eq!(encrypt(b"x", &[4; 65], &[0; 16], [0; 16]), None);
        let browser =
            bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        assert!(encrypt(&[b'x'; 4_079], &browser, &[0; 16], [0; 16]).is_some());
        assert_eq!(encrypt(&[b'x'; 4_080], &browser, &[0; 16], [0; 16]), None);
    }
}

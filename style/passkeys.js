// Passkeys: asks the authenticator where a page wants one, and posts its answer with the form. Loaded by such pages alone.

const where = document.querySelector("[data-passkey-origin]")?.dataset.passkeyOrigin;
const isAble = "credentials" in navigator && typeof PublicKeyCredential?.prototype?.getClientExtensionResults === "function";
document.documentElement.dataset.passkeys = where !== location.origin ? "elsewhere" : isAble ? "on" : "off";

/** Bytes of base64url, and back. */
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer ?? []))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** What the desk wants to be asked, for this form. */
async function question(wanted, form) {
  const fields = new URLSearchParams({ for: wanted });
  for (const name of ["call", "preview_version", "view_token"]) if (form.elements[name]) fields.set(name, form.elements[name].value);
  const answer = await fetch("/passkeys/ask", { method: "POST", body: fields }).catch(() => {});
  const asked = await answer?.json().catch(() => {});
  if (!answer?.ok) throw new Error(asked?.message ?? "The desk did not answer. Nothing was done. Try again in a moment.");
  return asked;
}

const known = ({ credentials }) => credentials.map((id) => ({ type: "public-key", id: bytes(id) }));

async function create(asked) {
  const { user } = asked;
  const { response, rawId } = await navigator.credentials.create({
    publicKey: {
      challenge: bytes(asked.challenge),
      rp: { id: asked.rp_id, name: "Countersign" },
      user: { id: bytes(user.id), name: user.name, displayName: user.display_name },
      pubKeyCredParams: asked.algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: known(asked),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      attestation: "none",
      timeout: asked.timeout,
    },
  });
  return {
    id: text(rawId),
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.getAuthenticatorData()),
    public_key: text(response.getPublicKey()),
    algorithm: response.getPublicKeyAlgorithm(),
  };
}

async function sign(asked) {
  const { response, rawId } = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(asked.challenge),
      rpId: asked.rp_id,
      allowCredentials: known(asked),
      userVerification: "required",
      timeout: asked.timeout,
    },
  });
  return {
    id: text(rawId),
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.authenticatorData),
    signature: text(response.signature),
    user_handle: text(response.userHandle),
  };
}

/** What went wrong, in words: browsers say it in names. */
function words({ name, message }) {
  if (name === "InvalidStateError") return "Nothing was added: there is a passkey of yours on it already.";
  if (name === "NotAllowedError" || name === "AbortError") return "No passkey was used, and nothing was done. Try again when you are ready.";
  return name === "Error" ? message : "The passkey could not be used. Nothing was done. Try again, or use another one.";
}

let busy = false;

async function ask(button) {
  const { form } = button;
  const says = (button.parentElement ?? form).querySelector(".passkey-says");
  const say = (line) => says && (says.textContent = line);
  // What has to be typed and is not, the desk says without a passkey.
  const { target, reason } = form.elements;
  if ([target, reason?.required && reason].some((field) => field && !field.value.trim())) return form.requestSubmit(button);
  say("Waiting for your passkey …");
  try {
    const wanted = button.dataset.passkey;
    const asked = await question(wanted, form);
    form.elements.passkey.value = JSON.stringify(await (wanted === "add" ? create : sign)(asked));
    say("");
    form.requestSubmit(button);
  } catch (error) {
    say(words(error));
  }
}

// A press that came too early was refused by the guard of the bar before it gets here.
addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-passkey]");
  if (!button || event.defaultPrevented) return;
  event.preventDefault();
  if (busy) return;
  busy = true;
  await ask(button);
  busy = false;
});

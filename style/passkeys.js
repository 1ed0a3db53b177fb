// Passkeys: asks the authenticator where a page wants one, and posts its answer with the form. Loaded by such pages alone.

const where = document.querySelector("[data-passkey-origin]")?.dataset.passkeyOrigin;
const isAble = "credentials" in navigator && typeof PublicKeyCredential?.prototype?.getClientExtensionResults === "function";
document.documentElement.dataset.passkeys = where !== location.origin ? "elsewhere" : isAble ? "on" : "off";

/** Bytes of base64url, and back. */
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** What the desk wants to be asked, for this form. */
async function question(wanted, form) {
  const fields = new URLSearchParams({ for: wanted });
  for (const name of ["call", "preview_version", "view_token"]) if (form.elements[name]) fields.set(name, form.elements[name].value);
  const answer = await fetch("/passkeys/ask", { method: "POST", body: fields }).catch(() => {});
  const asked = await answer?.json().catch(() => {});
  if (!answer?.ok) throw new Error(asked?.message ?? "The desk did not answer. Nothing was done. Try again in a moment.");
  return asked;
}

/** The options of JSON; by hand where the browser does not read them itself. */
function options(kind, asked) {
  if (PublicKeyCredential[`parse${kind}OptionsFromJSON`]) return PublicKeyCredential[`parse${kind}OptionsFromJSON`](asked);
  const known = (list) => list?.map((one) => ({ ...one, id: bytes(one.id) }));
  const { user } = asked;
  return {
    ...asked,
    challenge: bytes(asked.challenge),
    ...(user && { user: { ...user, id: bytes(user.id) }, excludeCredentials: known(asked.excludeCredentials) }),
    ...(!user && { allowCredentials: known(asked.allowCredentials) }),
  };
}

/** The answer as JSON, the same way. */
function answer(credential) {
  if (credential.toJSON) return credential.toJSON();
  const { id, type, response } = credential;
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"].filter((part) => response[part]);
  const said = Object.fromEntries(parts.map((part) => [part, text(response[part])]));
  return { id, rawId: id, type, response: said, clientExtensionResults: credential.getClientExtensionResults() };
}

/** What the authenticator says to that, and what the desk wants back with it. */
async function answered({ publicKey, state }, isNew) {
  const kind = isNew ? "Creation" : "Request";
  const ask = { publicKey: options(kind, publicKey) };
  return { state, credential: answer(await (isNew ? navigator.credentials.create(ask) : navigator.credentials.get(ask))) };
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
    form.elements.passkey.value = JSON.stringify(await answered(asked, wanted === "add"));
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

// Telling this browser, on the page of notices alone. Everything else there works without this.

const place = document.querySelector("[data-push-key]");
const button = place?.querySelector("button");
const status = place?.querySelector("[role=status]");

const say = (words) => (status.textContent = words);

/** Bytes of base64url, and back. */
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** What its person will know this browser by. */
function label() {
  const agent = navigator.userAgent;
  const names = { "Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari" };
  const systems = { Android: "Android", iPhone: "iPhone", iPad: "iPad", Mac: "Mac", Windows: "Windows", Linux: "Linux" };
  const found = (all, other) => all[Object.keys(all).find((part) => agent.includes(part))] ?? other;
  return `${found(names, "A browser")} on ${found(systems, "another system")}`;
}

/** The line of the list that is this browser. */
async function line(subscription) {
  if (!subscription) return null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subscription.endpoint));
  const mark = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return document.querySelector(`[data-mark="${mark}"]`);
}

/** Posts as a form of the page, and shows the page as it is then; or what was wrong. */
async function post(form, fields) {
  const answer = await fetch(form, { method: "POST", body: new URLSearchParams(fields) });
  if (answer.ok) return location.assign(answer.url);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const faults = [...page.querySelectorAll("#fault, .wrong")].map((one) => one.textContent);
  throw new Error(faults.join(" ") || "The desk did not take it. Nothing was changed.");
}

async function subscribe(worker) {
  if ((await Notification.requestPermission()) !== "granted") {
    throw new Error("This browser does not allow notices of this desk. Nothing was changed. Allow them in its settings and try again.");
  }
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: bytes(place.dataset.pushKey) };
  const subscription = await worker.pushManager.subscribe(options).catch(() => {
    throw new Error("The push service of this browser did not answer. Nothing was changed. Try again in a moment.");
  });
  const [p256dh, auth] = ["p256dh", "auth"].map((name) => text(subscription.getKey(name)));
  return post(place.dataset.tell, { endpoint: subscription.endpoint, p256dh, auth, label: label() });
}

async function unsubscribe(subscription, known) {
  await subscription.unsubscribe();
  return post(place.dataset.change, { act: "remove", browser: known.dataset.browser });
}

async function start() {
  say("");
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) {
    return say("This browser cannot be told: it has no web push, or the desk is not reached over https.");
  }
  const worker = await navigator.serviceWorker.register("/sw.js");
  const subscription = await worker.pushManager.getSubscription();
  const known = await line(subscription);
  known?.querySelector("strong")?.append(" (this browser)");
  button.textContent = known ? "Stop telling me in this browser" : "Tell me in this browser";
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    say("");
    try {
      await navigator.serviceWorker.ready;
      await (known ? unsubscribe(subscription, known) : subscribe(worker));
    } catch ({ message }) {
      say(message);
      button.disabled = false;
    }
  });
}

if (place) start().catch(() => say("This browser cannot be told: its service worker did not start."));

// What scripts add to pages that work without them: a guard on decisions, keys, fresh state, copying.

const GUARD = 500; // milliseconds in which a decision button does nothing after it appears, moves or gets focus
const ASK = 700; // milliseconds between looks at a call that is on its way

const READ_FIRST = "Read first: it can be pressed in a moment.";

let bar, buttons, armedAt, places, pressed;

/** Finds the decision bar of the page as it stands and begins to guard it. `since` is when it came into sight. */
function guard(since = performance.now()) {
  bar = document.querySelector("[data-guard]");
  buttons = bar ? [...bar.querySelectorAll("button")] : [];
  places = undefined;
  if (!bar) return;
  const confirm = bar.querySelector(".confirm");
  if (confirm && !confirm.querySelector("kbd")) {
    const keys = document.createElement("kbd");
    keys.setAttribute("aria-hidden", "true");
    keys.textContent = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ ⏎" : "Ctrl ⏎";
    confirm.append(keys);
    confirm.setAttribute("aria-keyshortcuts", "Control+Enter Meta+Enter");
  }
  rearm(since);
}

function rearm(since = performance.now()) {
  armedAt = since + GUARD;
  if (!isArmed()) bar?.setAttribute("data-arming", "");
  if (!isArmed()) hint(READ_FIRST);
}

/** Says beside the buttons whether they listen; screen readers are told when it changes. */
function hint(words) {
  const place = bar?.querySelector(".guard-hint");
  if (place && place.textContent !== words) place.textContent = words;
}

/** A press came too early: says so, and for a while also that the next one counts. */
function tooEarly() {
  bar.setAttribute("data-heard", "");
  hint(READ_FIRST);
}

/** The buttons listen from now on. */
function ink() {
  bar.removeAttribute("data-arming");
  if (!bar.hasAttribute("data-heard")) return hint("");
  hint("Now it can be pressed.");
  const here = bar;
  setTimeout(() => {
    here.removeAttribute("data-heard");
    if (here === bar && isArmed()) hint("");
  }, 3000);
}

const isArmed = () => performance.now() >= armedAt;

/** Looks whether the buttons have moved since the last look, and inks them when their time has come. */
function watch() {
  if (!bar?.isConnected) return;
  const now = buttons.map((button) => {
    const { x, y, width, height } = button.getBoundingClientRect();
    return [x, y, width, height].map(Math.round).join();
  }).join(";");
  if (places !== undefined && places !== now) rearm();
  places = now;
  if (isArmed() && bar.hasAttribute("data-arming")) ink();
}

setInterval(watch, 100);
addEventListener("visibilitychange", () => document.hidden || rearm());
addEventListener("focus", (event) => event.target === window && rearm());
addEventListener("pointerdown", (event) => { pressed = event.target.closest?.("[data-guard] button"); }, true);
addEventListener("focusin", (event) => {
  const button = event.target.closest?.("[data-guard] button");
  if (button && button !== pressed) rearm();
});
addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-guard] button");
  if (button) watch();
  if (button && !isArmed()) {
    event.preventDefault();
    tooEarly();
  }
  pressed = undefined;
}, true);

/** A form is sent once: a second press while the first is on its way does nothing. */
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
  setTimeout(() => delete form.dataset.sent, 5000);
});

// Keys: Ctrl or ⌘ with Enter confirms the open call; j and k move within the list of held calls, where the focus is.
addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
    const confirm = bar?.querySelector(".confirm");
    if (!confirm) return;
    event.preventDefault();
    watch();
    if (isArmed()) confirm.form.requestSubmit(confirm);
    else tooEarly();
    return;
  }
  const link = event.target.closest?.(".held-call");
  if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { j: 1, k: -1 }[event.key];
  if (!step) return;
  const links = [...document.querySelectorAll(".held-call")];
  links[links.indexOf(link) + step]?.focus();
});

/** Counts down what is left of an undo window, by the number the server gave. */
function countDown() {
  const rest = document.querySelector("[data-seconds]");
  if (!rest || rest.dataset.end) return;
  rest.dataset.end = String(performance.now() + Number(rest.dataset.seconds) * 1000);
  const tick = () => {
    if (!rest.isConnected) return;
    const seconds = Math.max(0, Math.ceil((Number(rest.dataset.end) - performance.now()) / 1000));
    rest.textContent = `${seconds} s`;
    if (seconds) setTimeout(tick, 250);
  };
  tick();
}

/** While a call is on its way, asks for its page again and takes over what changed; the focus stays where it was. */
async function follow() {
  if (!document.querySelector("[data-live]")) return;
  await new Promise((done) => setTimeout(done, ASK));
  if (document.hidden) await new Promise((done) => addEventListener("visibilitychange", done, { once: true }));
  try {
    const answer = await fetch(location.pathname, { headers: { accept: "text/html" }, redirect: "error" });
    if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    // Nothing to show: the next look tells.
  }
  follow();
}

function take(fresh) {
  const old = document.querySelector("#item"), now = fresh.querySelector("#item");
  if (!old || !now) return;
  document.title = fresh.title;
  swap(document.querySelector(".nav ul"), fresh.querySelector(".nav ul"));
  swap(document.querySelector(".waiting"), fresh.querySelector(".waiting"));
  const said = old.querySelector("[role=status]"), says = now.querySelector("[role=status]");
  if (said && says && now.querySelector("[data-live]")) {
    // Still on its way: only the sentence and the way back change, so that the region itself stays and is announced.
    if (said.textContent !== says.textContent) said.textContent = says.textContent;
    const undo = now.querySelector(".undo") ? null : old.querySelector(".undo");
    if (undo?.contains(document.activeElement)) focusOn(old.querySelector("h1"));
    undo?.remove();
    return;
  }
  const hadFocus = old.contains(document.activeElement);
  // The region that is announced has to stay in the page: it is moved into the new content.
  if (said && says) {
    const words = says.textContent;
    says.replaceWith(said);
    old.replaceChildren(...now.childNodes);
    said.textContent = words;
  } else {
    old.replaceChildren(...now.childNodes);
  }
  if (hadFocus) focusOn(old.querySelector("h1"));
  guard();
}

function swap(old, now) {
  if (old && now && old.innerHTML !== now.innerHTML && !old.contains(document.activeElement)) old.replaceWith(now);
}

function focusOn(element) {
  element?.setAttribute("tabindex", "-1");
  element?.focus();
}

/** A button beside each command that copies it. */
function copies() {
  for (const command of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard?.writeText(command.textContent.trim());
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    command.after(button);
  }
}

addEventListener("pageshow", (event) => {
  document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
  if (event.persisted) rearm();
});

guard(performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
countDown();
follow();
copies();
(document.querySelector("[autofocus]") ?? document.querySelector("[data-focus]"))?.focus();
document.querySelector(".held-call[aria-current]")?.scrollIntoView({ block: "nearest" });

// What scripts add to pages that work without them: a guard on decisions, fresh state, keys, copying.

const GUARD = 500; // milliseconds in which a decision button does nothing after it appears, moves or gets focus
const ASK = 700; // milliseconds between looks at a call that is on its way, while nothing tells of changes
const ASK_LIVE = 5000; // the same while changes are told
const SETTLE = 300; // milliseconds in which changes that come together are gathered
const REST = 1000; // milliseconds between two looks at the list
const BACK_OFF = [1000, 30_000]; // milliseconds until a broken stream is tried again: at first, and at most
const SILENT = 40_000; // milliseconds after which a stream that says nothing at all is broken
const PATIENT = 2000; // milliseconds before a broken stream is spoken of

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const pause = (time) => new Promise((done) => setTimeout(done, time));
const READ_FIRST = "Read first: it can be pressed in a moment.";

let bar, buttons, armedAt, places, pressed;

/** Finds the decision bar of the page as it stands and begins to guard it. `since` is when it came into sight. */
function guard(since = performance.now()) {
  bar = $("[data-guard]");
  buttons = bar ? all("button", bar) : [];
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

/** A page of the desk as it is now; nothing when it cannot be had. */
async function get(address) {
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" }, redirect: "error" });
    if (answer.ok) return new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    // Nothing to show: the next look tells.
  }
}

/** Resolves when somebody can see the page. */
async function seen() {
  if (document.hidden) await new Promise((done) => addEventListener("visibilitychange", done, { once: true }));
}

// The count of what waits: in the title, the navigation and the badge.

let title = $(".nav .count") ? document.title.replace(/^\(\d+\+?\) /, "") : document.title;

function count(waiting) {
  const words = waiting > 99 ? "99+" : String(waiting);
  const link = $('.nav a[href="/inbox"]');
  let badge = $(".count", link);
  if (waiting && !badge) {
    badge = document.createElement("span");
    badge.className = "count";
    link.append(" ", badge);
  }
  if (!waiting) badge?.remove();
  else if (badge.textContent !== words) badge.textContent = words;
  document.title = (waiting ? `(${words}) ` : "") + title;
  navigator.setAppBadge?.(waiting).catch(() => {});
}

/** Counts down what is left of an undo window, by the number the server gave. */
function countDown() {
  const rest = $("[data-seconds]");
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

// The open call.

const open = () => $("#item")?.dataset.call;
let following = false;

/** Asks again for the page of the open call and takes over what changed; the focus stays where it was. */
async function look() {
  await seen();
  // The page's own address: that of a page which answers a form is the form's.
  const fresh = await get($("#item").dataset.address);
  if (fresh) take(fresh);
}

/** While the call is on its way, looks again and again: seldom when changes are told. */
async function follow() {
  if (following) return;
  following = true;
  while ($("[data-live]")) {
    await pause(live ? ASK_LIVE : ASK);
    await look();
  }
  following = false;
}

function take(fresh) {
  const old = $("#item"), now = $("#item", fresh);
  if (!old || !now) return;
  const version = (item) => $("[name=preview_version]", item)?.value;
  const said = $("[role=status]", old), says = $("[role=status]", now);
  const say = (words) => said.textContent !== words && (said.textContent = words);
  merge(fresh);
  if (version(old) && version(now)) {
    // Still to be decided: nothing is taken from under the hands of whoever reads or writes.
    say(version(old) === version(now) ? says.textContent : "Held, and changed since you looked. Load the page again before you decide.");
    return;
  }
  title = fresh.title.replace($(".nav .count", fresh) ? /^\(\d+\+?\) / : "", "");
  count(waiting(fresh));
  if (said && says && $("[data-live]", now) && $("[data-live]", old)) {
    // Still on its way: only the sentence and the way back change, so that the region itself stays and is announced.
    say(says.textContent);
    const undo = $(".undo", now) ? null : $(".undo", old);
    if (undo?.contains(document.activeElement)) focusOn($("h1", old));
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
  if (hadFocus) focusOn($("h1", old));
  guard();
  countDown();
  follow();
}

function waiting(page) {
  const shown = $(".nav .count", page)?.textContent ?? "0";
  return shown.endsWith("+") ? 100 : Number(shown);
}

function focusOn(element) {
  element?.setAttribute("tabindex", "-1");
  element?.focus();
}

// The list. Nothing in it moves by itself: what ended is marked on its line, and what is new waits behind a button.

const lines = (page) => new Map(all("[data-key]", page).map((line) => [line.dataset.key, line]));
let ended = new Set(), listed = 0, coming = false;

/** Asks for the list again, soon, and with everything that changes until then. */
async function relist() {
  if (coming || !$("[data-list]")) return;
  coming = true;
  await pause(Math.max(SETTLE, listed + REST - performance.now()));
  await seen();
  coming = false;
  listed = performance.now();
  const asked = [...ended];
  const address = new URL("/inbox" + location.search, location);
  if (asked.length) address.searchParams.set("ended", asked.join());
  const fresh = await get(address);
  if (!fresh) return;
  for (const id of asked) ended.delete(id);
  merge(fresh);
}

function merge(fresh) {
  const list = $("[data-list]");
  if (!list) return;
  const old = lines(list), now = lines(fresh);
  for (const [id, line] of old) {
    const still = now.get(id);
    const mark = $(`[data-ended="${id}"] .held-mark`, fresh);
    if (still || mark) $(".held-mark", line)?.remove();
    line.classList.toggle("held-ended", !!mark || (!still && line.classList.contains("held-ended")));
    if (still) all(".held-row", line).forEach((row, at) => row.replaceWith(all(".held-row", still)[at].cloneNode(true)));
    const row = mark && all(".held-row", line).at(-1);
    // It stands where the line said until when it waits, so that no line below moves.
    row?.children[1]?.remove();
    row?.append(mark);
    const box = $(".pick", line.parentElement);
    if (box) box.disabled = line.classList.contains("held-ended");
    if (box?.disabled) box.checked = false;
  }
  const more = [...now.keys()].filter((id) => !old.has(id)).length;
  offer($(".fresh", list), more, more === now.size && $("[rel=next]", fresh), () => show(fresh, old));
}

/** “3 new”, behind a button; nothing when nothing is. */
function offer(place, more, isAll, take) {
  let pill = $("button", place);
  if (!more) return pill?.remove();
  const words = `${more}${isAll ? "+" : ""} new`;
  if (!pill) {
    pill = document.createElement("button");
    pill.type = "button";
    place.append(pill);
  }
  if (pill.textContent !== words) pill.textContent = words;
  pill.onclick = take;
}

/** Puts the new list in the place of the old one, because somebody asked for it. */
function show(fresh, old) {
  const main = $("#main"), ticked = new Set(all(".pick:checked").map((box) => box.value));
  if ($(".waiting")) {
    const list = $("[data-list]");
    for (const part of [".waiting", ".pager", ".many"]) {
      const [was, is] = [$(part, list), $(part, fresh)];
      if (was && is) was.replaceWith(is);
      else if (is) list.append(is);
      else was?.remove();
    }
    $(".fresh").replaceChildren();
  } else {
    main.className = $("#main", fresh).className;
    main.replaceChildren(...$("#main", fresh).childNodes);
  }
  for (const box of all(".pick")) box.checked = ticked.has(box.value);
  lines(main).get(open())?.setAttribute("aria-current", "page");
  [...lines(main)].find(([id]) => !old.has(id))?.[1].focus();
}

// A table that grows at its head: what is new waits behind a button here as well.

const rows = (page) => all("[data-grows] [data-row]", page);
let growing = false, grown = 0;

async function grow() {
  if (growing || !$("[data-grows]")) return;
  growing = true;
  await pause(Math.max(SETTLE, grown + REST - performance.now()));
  await seen();
  growing = false;
  grown = performance.now();
  const fresh = await get(location.href);
  const [old, now] = [$("[data-grows]"), fresh && $("[data-grows]", fresh)];
  if (!old || !now) return;
  const known = new Set(rows(document).map(({ dataset }) => dataset.row));
  const more = rows(fresh).filter(({ dataset }) => !known.has(dataset.row));
  offer($(".fresh", old), more.length, more.length === rows(fresh).length && known.size, () => {
    old.replaceWith(now);
    focusOn($("[data-row]", now));
  });
}

// Changes are told by a stream of ids. One tab of a browser has it, the others hear from that one: a browser opens few
// connections to one desk.

const me = Math.random().toString(36);
const channel = "BroadcastChannel" in self ? new BroadcastChannel("countersign") : undefined;
let live = false, leads = false, last = $(".desk")?.dataset.after, told = [], state;

function tell(message) {
  heard(message);
  channel?.postMessage(message);
  if (!message.calls) return;
  told.push({ ...message, at: Date.now() });
  told = told.filter(({ at }) => at > Date.now() - 30_000);
}

function heard(message) {
  if (message.to && message.to !== me) return;
  if (message.hello) {
    // A tab that has just come: what was told while it was on its way.
    const missed = leads ? [{ state }, ...told.filter(({ at }) => at >= message.since)] : [];
    return missed.forEach((one) => channel.postMessage({ ...one, to: message.hello }));
  }
  if (message.state) return stand(message.state);
  last = message.id ?? last;
  const differs = Math.min(message.waiting, 100) !== waiting(document);
  count(message.waiting);
  const changed = (id) => message.all || message.calls.includes(id);
  if (open() && changed(open())) look();
  for (const id of lines(document).keys()) if (changed(id)) ended.add(id);
  if (message.all || message.calls.length || differs) relist();
  if (message.all || message.journal) grow();
}

/** Says whether the page is live. A short break is not spoken of. */
async function stand(now) {
  if (state === now) return;
  state = now;
  live = now === "on";
  const place = $(".live");
  if (place) place.dataset.state = now;
  if (now === "off") await pause(PATIENT);
  if (state !== now || !place) return;
  place.textContent = { on: "", off: "Not live: trying again", out: "Not live: you are signed out" }[now];
}

async function* messages(body, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const field = (name) => part.match(new RegExp(`^${name}: ?(.*)$`, "m"))?.[1];
      if (field("data")) yield { id: field("id"), ...JSON.parse(field("data")) };
    }
  }
}

async function lead() {
  leads = true;
  for (let wait = BACK_OFF[0]; ; wait = Math.min(wait * 2, BACK_OFF[1])) {
    const control = new AbortController();
    let silence;
    const alive = () => {
      clearTimeout(silence);
      silence = setTimeout(() => control.abort(), SILENT);
    };
    const gone = () => control.abort();
    addEventListener("offline", gone, { once: true });
    try {
      alive();
      const answer = await fetch("/live", { headers: last ? { "last-event-id": last } : {}, signal: control.signal });
      if (answer.status === 401) return tell({ state: "out" });
      if (answer.ok) {
        for await (const message of messages(answer.body, alive)) {
          tell({ state: "on" });
          tell(message);
          wait = BACK_OFF[0];
        }
      }
    } catch {
      // It broke: it is tried again.
    }
    clearTimeout(silence);
    removeEventListener("offline", gone);
    tell({ state: "off" });
    const back = new Promise((done) => addEventListener("online", done, { once: true }));
    await Promise.race([pause(wait * (0.75 + Math.random() / 2)), back]);
  }
}

// Keys. None of them decides anything but Ctrl or ⌘ with Enter on the open call, and all can be switched off.

const KEYS = "countersign-keys";
const useKeys = () => localStorage.getItem(KEYS) !== "off";
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

const bare = {
  j: () => step(1),
  k: () => step(-1),
  x: () => $(".pick", line())?.click(),
  "/": () => {
    const narrow = $(".narrow");
    if (!narrow?.checkVisibility()) return palette();
    narrow.open = true;
    $("select", narrow).focus();
  },
  "?": sheet,
};

/** The line of the list that has the focus, or is open. */
const line = () => document.activeElement.closest(".held li") ?? $(".held-call[aria-current]")?.parentElement;

function step(by) {
  const links = all(".held-call").filter((link) => link.checkVisibility());
  const at = links.indexOf(line()?.querySelector(".held-call"));
  links[at < 0 ? 0 : at + by]?.focus();
}

addEventListener("keydown", (event) => {
  const withControl = event.ctrlKey || event.metaKey;
  if (!useKeys() || event.isComposing || event.repeat && withControl) return;
  if (event.key === "Enter" && withControl) {
    const confirm = bar && $(".confirm", bar);
    // Whoever writes words or chooses from a list is about something else: words are for a decline. Several are pressed.
    const elsewhere = event.target.closest?.("textarea, select, input:not(#target)");
    if (!confirm || elsewhere || $("dialog[open]") || $("#confirm-many")) return;
    event.preventDefault();
    watch();
    if (isArmed()) confirm.form.requestSubmit(confirm);
    else tooEarly();
  } else if (event.key === "k" && withControl && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    palette();
  } else if (!withControl && !event.altKey && !event.target.closest?.("textarea, select, dialog, [contenteditable], input:not([type=checkbox], [type=radio])")) {
    const act = bare[event.key];
    if (!act || !$(".desk")) return;
    event.preventDefault();
    act();
  }
});

function dialog(id, content) {
  const old = $(`#${id}`);
  const made = old ?? document.createElement("dialog");
  if (made.open) return;
  if (!old) {
    made.id = id;
    made.innerHTML = content;
    document.body.append(made);
    made.addEventListener("click", (event) => event.target === made && made.close());
  }
  made.showModal();
  return made;
}

function sheet() {
  const control = isMac ? "⌘" : "Ctrl";
  const keys = [["j", "Next call"], ["k", "Call before"], ["Enter", "Open it"], ["x", "Select it"], ["/", "Narrow the list"], [`${control} K`, "Go anywhere"], [`${control} Enter`, "Confirm the open call"], ["?", "This sheet"]];
  const rows = keys.map(([key, what]) => `<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`).join("");
  const made = dialog("keys", `<h2>Keys</h2><dl>${rows}</dl><p class="field field-tick"><input type="checkbox" id="use-keys"><label for="use-keys">Use these keys</label></p><form method="dialog"><button>Close</button></form>`);
  if (!made) return;
  made.setAttribute("aria-label", "Keys");
  const box = $("input", made);
  box.checked = useKeys();
  box.onchange = () => localStorage.setItem(KEYS, box.checked ? "on" : "off");
}

/** Goes anywhere: a page, a held call, an action to run. */
async function palette() {
  const made = dialog("palette", `<input role="combobox" aria-label="Go to" aria-expanded="true" aria-controls="places" aria-autocomplete="list" autocomplete="off" spellcheck="false" placeholder="A page, a held call, an action"><ul id="places" role="listbox" aria-label="Places"></ul><p role="status"></p>`);
  if (!made) return;
  made.setAttribute("aria-label", "Go to");
  const input = $("input", made), list = $("ul", made);
  let places = [], at = 0;
  const found = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    return places.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word))).slice(0, 12);
  };
  const draw = () => {
    list.replaceChildren(...found().map(({ name, href }, index) => {
      const option = document.createElement("li");
      option.id = `place-${index}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", String(index === at));
      option.textContent = name;
      option.onclick = () => location.assign(href);
      return option;
    }));
    $("[role=status]", made).textContent = list.firstChild ? "" : "Nothing found.";
    if (!list.firstChild) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `place-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const add = (page, selector, name) => {
    for (const link of all(selector, page)) {
      const href = link.getAttribute("href");
      if (!places.some((place) => place.href === href)) places.push({ href, name: name(link) });
    }
    draw();
  };
  input.value = "";
  input.oninput = () => { at = 0; draw(); };
  input.onkeydown = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) at = Math.min(Math.max(at + by, 0), found().length - 1);
    if (by) event.preventDefault(), draw();
    if (event.key === "Enter" && found()[at]) location.assign(found()[at].href);
  };
  const calls = (page) => add(page, ".held-call", (link) => $(".held-title", link).textContent);
  add(document, ".nav a", (link) => (link.matches(".account-name") ? link : link.firstChild).textContent);
  places.push({ href: "/grants", name: "Standing grants" });
  calls(document);
  const [inbox, run] = await Promise.all([$("[data-list]") ? undefined : get("/inbox"), get("/run")]);
  if (inbox) calls(inbox);
  if (run) add(run, ".offer", (link) => `Run: ${link.firstElementChild.textContent}`);
}

/** A button beside each command that copies it. */
function copies() {
  for (const command of all("[data-copy]")) {
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
  all("form[data-sent]").forEach((form) => delete form.dataset.sent);
  if (!event.persisted) return;
  rearm();
  if (open()) look();
  relist();
});

/** The side bar and the list end where the window does, also below the banner of a pause. */
function measure() {
  const banner = $(".paused-all");
  if (banner) document.documentElement.style.setProperty("--banner", `${banner.offsetHeight}px`);
}

measure();
addEventListener("resize", measure);
guard(performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
countDown();
follow();
copies();
if ($(".desk")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet keys";
  button.textContent = "Keys";
  button.onclick = sheet;
  $(".account").before(button);
  if (channel) channel.onmessage = ({ data }) => heard(data);
  channel?.postMessage({ hello: me, since: performance.timeOrigin });
  // Locks need a secure context; without them each tab has a stream of its own.
  if (channel && navigator.locks) navigator.locks.request("countersign-live", lead);
  else lead();
}
($("[autofocus]") ?? $("[data-focus]"))?.focus();
$(".held-call[aria-current]")?.scrollIntoView({ block: "nearest" });

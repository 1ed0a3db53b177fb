// The service worker: shows what a push service brings, and opens the page it is about. It caches nothing.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

/** What a push says; a browser must show something, whatever came. */
function told(data) {
  try {
    const { title, body, path, tag } = data.json();
    return { title: String(title), body: String(body), path: String(path), tag: String(tag) };
  } catch {
    return { title: "Something waits for you", body: "Look into your inbox.", path: "/inbox", tag: "waiting" };
  }
}

self.addEventListener("push", (event) => {
  const { title, body, path, tag } = told(event.data);
  event.waitUntil(self.registration.showNotification(title, { body, tag, renotify: true, icon: "@ICON@", data: { path } }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  // A page of this desk's inbox alone; it asks for a sign-in, and opening it decides nothing.
  const asked = event.notification.data?.path ?? "";
  const path = /^\/inbox(\/call_[0-9a-z]+)?$/.test(asked) ? asked : "/inbox";
  event.waitUntil(open(path));
});

async function open(path) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find(({ url }) => new URL(url).pathname === path);
  if (there) return there.focus();
  return self.clients.openWindow(path);
}

// The service worker of the till. The shop puts `VERSION` and `FILES` before this: the page, and every file of this version.

const SHELL = `till-shell-${VERSION}`;
const PICTURES = "till-pictures";
const MOST_PICTURES = 600;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" })))));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("till-shell-") && name !== SHELL) await caches.delete(name);
    }
    await self.clients.claim();
  })());
});

self.addEventListener("message", (event) => {
  if (event.data.kind === "version") event.ports[0].postMessage(VERSION);
  if (event.data.kind !== "takeOver") return;
  event.waitUntil((async () => {
    const open = await self.clients.matchAll({ includeUncontrolled: true, type: "window" });
    const takesOver = open.filter((client) => new URL(client.url).pathname.startsWith("/till")).length <= 1;
    event.ports[0].postMessage({ takesOver });
    if (takesOver) await self.skipWaiting();
  })());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin || url.pathname.startsWith("/v1/")) return;
  if (request.mode === "navigate") event.respondWith(page(url));
  else if (url.pathname.startsWith("/static/")) event.respondWith(file(request));
  else if (/^\/(?:media|picture)\//.test(url.pathname)) event.respondWith(picture(event));
});

async function page(url) {
  const cache = await caches.open(SHELL);
  const name = url.pathname === "/till/display" ? "/till/display" : "/till";
  return await cache.match(name) ?? fetch(url);
}

async function file(request) {
  const cache = await caches.open(SHELL);
  return await cache.match(request) ?? fetch(request);
}

/** A picture as it was seen last; the current one is fetched for the next time. */
async function picture(event) {
  const cache = await caches.open(PICTURES);
  const known = await cache.match(event.request);
  const fetched = fetch(event.request).then(async (answer) => {
    if (answer.ok) {
      await cache.put(event.request, answer.clone());
      const names = await cache.keys();
      for (const old of names.slice(0, Math.max(0, names.length - MOST_PICTURES))) await cache.delete(old);
    }
    return answer;
  });
  if (!known) return fetched;
  event.waitUntil(fetched.catch(() => {}));
  return known;
}

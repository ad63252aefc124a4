// The service worker of the till. The shop puts `VERSION` and `FILES` before this: the page, and every file of this
// version.

const SHELL = `till-shell-${VERSION}`;
const PICTURES = "till-pictures";
const MOST_PICTURES = 600;
const SOME_PICTURES = 50; // Kept more than the most until the oldest are removed.

self.addEventListener("install", (event) => {
  const files = FILES.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(files)));
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
    const takesOver = await isOneWindow();
    event.ports[0].postMessage({ takesOver });
    if (takesOver) await self.skipWaiting();
  })());
});

/** Whether one window of the till is open. The page that this one follows may still be on its way out, and the
    customer's display stays open all day and needs no version of its own. */
async function isOneWindow() {
  for (let tries = 0; tries < 10; tries += 1) {
    const open = await self.clients.matchAll({ includeUncontrolled: true, type: "window" });
    const tills = open.map(({ url }) => new URL(url).pathname).filter((path) => /^\/till(?!\/display$)/.test(path));
    if (tills.length <= 1) return true;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  return false;
}

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

/** A picture as it is kept: another picture has another address. */
async function picture(event) {
  const cache = await caches.open(PICTURES);
  const known = await cache.match(event.request);
  if (known) return known;
  const answer = await fetch(event.request);
  if (answer.ok) event.waitUntil(keepPicture(cache, event.request, answer.clone()));
  return answer;
}

// Since the number of pictures was looked at. A worker often lives for moments: it looks at its first picture.
let kept = SOME_PICTURES;

async function keepPicture(cache, request, answer) {
  await cache.put(request, answer);
  kept += 1;
  if (kept < SOME_PICTURES) return;
  kept = 0;
  const names = await cache.keys();
  for (const old of names.slice(0, Math.max(0, names.length - MOST_PICTURES))) await cache.delete(old);
}

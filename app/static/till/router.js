// Paths below /till and the screens that they show. A screen is loaded when it is first shown; the start is there.

import { app, update } from "./state.js";

const ROUTES = [
  [/^\/till\/?$/],
  [/^\/till\/quick$/, () => import("./screens/quick_payment.js")],
  [/^\/till\/order$/, () => import("./screens/order.js")],
  [/^\/till\/parked$/, () => import("./screens/parked.js")],
  [/^\/till\/pay$/, () => import("./screens/payment.js")],
  [/^\/till\/done$/, () => import("./screens/done.js")],
  [/^\/till\/waiting$/, () => import("./screens/waiting_sales.js")],
  [/^\/till\/transactions$/, () => import("./screens/transactions.js")],
  [/^\/till\/transactions\/(?<id>[^/]+)$/, () => import("./screens/transaction.js")],
  [/^\/till\/session$/, () => import("./screens/session.js")],
  [/^\/till\/settings$/, () => import("./screens/settings.js")],
  [/^\/till\/unlock$/, () => import("./screens/quick_unlock.js")],
  [/^\/till\/help$/, () => import("./screens/help.js")],
];

const AROUND = /^\/till\/(?:transactions|session|settings|unlock|waiting|help)\b/;

/** Whether what is shown is around the sale: nothing that happens to a payment leads anybody away from there. */
export function isAround() { return AROUND.test(app().path); }

/** The screen of a path: `{load, parameters}`, null for an unknown one. The start has no `load`. */
export function routeOf(path) {
  for (const [pattern, load] of ROUTES) {
    const found = pattern.exec(path);
    if (found) return { load, parameters: found.groups ?? {} };
  }
  return null;
}

export function go(path, { replaces = false } = {}) {
  if (path !== location.pathname) history[replaces ? "replaceState" : "pushState"](null, "", path);
  update({ path });
  scrollTo(0, 0);
}

/** Go to a screen of the sale, unless the agent looks at something around it. */
export function leadTo(path) { if (!isAround()) go(path, { replaces: true }); }

/** Follow the browser's own buttons, and links to other screens. */
export function listen() {
  addEventListener("popstate", () => update({ path: location.pathname }));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='/till']");
    if (!link || link.target || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    if (!routeOf(new URL(link.href).pathname)) return;
    event.preventDefault();
    go(new URL(link.href).pathname);
  });
}

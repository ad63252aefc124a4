// Paths below /till and the screens that they show. A screen is loaded when it is first shown; the start is there.

import { go } from "./navigation.js";
import { update } from "./state.js";

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

/** The screen of a path: `{load, parameters}`, null for an unknown one. The start has no `load`. */
export function routeOf(path) {
  for (const [pattern, load] of ROUTES) {
    const found = pattern.exec(path);
    if (found) return { load, parameters: found.groups ?? {} };
  }
  return null;
}

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

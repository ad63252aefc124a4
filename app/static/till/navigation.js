// Where the till is: its path, which the browser's address follows. Screens come by their paths in router.js.

import { app, update } from "./state.js";

const AROUND = /^\/till\/(?:transactions|session|settings|unlock|waiting|help)\b/;

/** Whether what is shown is around the sale: nothing that happens to a payment leads anybody away from there. */
export function isAround() { return AROUND.test(app().path); }

export function go(path, { replaces = false } = {}) {
  if (path !== location.pathname) history[replaces ? "replaceState" : "pushState"](null, "", path);
  update({ path });
  scrollTo(0, 0);
}

/** Go to a screen of the sale, unless the agent looks at something around it. */
export function leadTo(path) { if (!isAround()) go(path, { replaces: true }); }

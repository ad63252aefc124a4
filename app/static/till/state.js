// What the screens show. Modules change it with `update`, components follow it with `useApp`.

import { useEffect, useState } from "../vendor/htm-preact-3.1.1.module.js";

// `phase`: starting, signIn, setUp (of the quick unlock), locked, location (to be chosen), notReady (nothing is known
// of it), ready.
let state = {
  phase: "starting",
  path: "/till",
  user: null, // {id, email, displayName, roles}
  agent: null, // PosAgent
  locations: [],
  location: null, // {id, displayName}
  configuration: null, // GET /v1/pos/{locationId}/configuration
  sale: null, // sale.js
  payment: null, // The payment that is not final yet: payments.js, of cash cash.js
  refusal: null, // Why the shop did not begin the last payment, a sentence.
  tender: null, // "CARD" or "CASH" where that was pressed before the payment screen opened.
  isOnline: navigator.onLine,
  unsent: 0, // Sales in the offline log that the shop does not have yet.
  unsentReason: null, // Why they could not be sent, a sentence.
  report: null, // The Z report of a work session that was just closed: work_session.js.
  isTraining: false,
  notice: null, // A sentence shown once, above the screen.
};
const followers = new Set();

export function app() { return state; }

export function update(changes) {
  state = { ...state, ...changes };
  for (const follow of [...followers]) follow(state);
}

/** Forget the notice as the screen that showed it is left, but not the one that says why to sign in again. */
export function forgetNotice() {
  if (state.phase !== "signIn") update({ notice: null });
}

export function useApp() {
  const [shown, show] = useState(state);
  useEffect(() => {
    followers.add(show);
    show(state);
    return () => followers.delete(show);
  }, []);
  return shown;
}

export function onUpdate(follow) {
  followers.add(follow);
  return () => followers.delete(follow);
}

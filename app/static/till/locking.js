// The till locks by itself: two minutes after it went to the background, five after its last use in whichever tab.

import { app } from "./state.js";

const HIDDEN = 2 * 60_000;
const IDLE = 5 * 60_000;
const LOOKS = 5_000;
const TELLS = 10_000; // Milliseconds between messages about use.
const channel = new BroadcastChannel("till-use");

let lastUse = Date.now();
let lastTold = 0;
let hiddenSince = null;
let lockNow = null;

channel.addEventListener("message", () => { lastUse = Date.now(); });

/** Whether somebody is in, so that the till can be locked. */
export function isIn() { return ["location", "notReady", "ready"].includes(app().phase); }

/** Call `lock` whenever the till was not used for long, from now on. */
export function watchUse(lock) {
  if (lockNow) return;
  lockNow = lock;
  for (const event of ["pointerdown", "keydown", "touchstart"]) addEventListener(event, noteUse, { passive: true });
  document.addEventListener("visibilitychange", () => {
    lockIfDue(); // No timer may have run while it was hidden.
    hiddenSince = document.hidden ? Date.now() : null;
  });
  setInterval(lockIfDue, LOOKS);
}

function noteUse() {
  lastUse = Date.now();
  if (lastUse - lastTold < TELLS) return;
  lastTold = lastUse;
  channel.postMessage(null);
}

function lockIfDue() {
  if (!isIn()) return;
  const isHiddenLong = hiddenSince !== null && Date.now() - hiddenSince >= HIDDEN;
  if (isHiddenLong || Date.now() - lastUse >= IDLE) lockNow();
}

// The shop's time. The clock of a device may be hours wrong; each answer of the shop says how much.

import { read, write } from "./store.js";

const NAME = "clock"; // In the store `device`: {offset, latest}.
export const KEY_HOLDS = 23 * 3_600_000; // Milliseconds in which the shop knows a repeated request.
const JITTER = 2_000; // Milliseconds that an answer takes, and the rounding of its date.

let offset = 0; // Milliseconds that the device's clock is behind.
let latest = 0; // The shop's time at its last answer, before which nothing happens any more.

export async function loadClock() { ({ offset, latest } = await read("device", NAME) ?? { offset, latest }); }

export async function saveClock() { await write("device", { offset, latest }, NAME); }

/** Learn from the header `Date` of an answer. */
export function learnTime(date) {
  const shown = Date.parse(date);
  if (Number.isNaN(shown)) return;
  latest = shown;
  const found = shown - Date.now();
  if (Math.abs(found - offset) <= JITTER) return;
  offset = found;
  saveClock().catch(() => {}); // It is learnt again from the next answer.
}

/** The shop's time in milliseconds, as well as it is known. */
export function serverNow() { return Math.max(Date.now() + offset, latest); }

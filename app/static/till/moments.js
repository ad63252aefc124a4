// Moments in words, in the shop's time zone.

import { app } from "./state.js";

/** "16:05" */
export function timeOf(at) { return format(at, { hour: "2-digit", minute: "2-digit" }); }

/** "Sat, 28 Nov 2026" */
export function dayOf(at) { return format(at, { weekday: "short", day: "numeric", month: "short", year: "numeric" }); }

/** "28 Nov" */
export function shortDayOf(at) { return format(at, { day: "numeric", month: "short" }); }

/** "28 Nov, 16:05" */
export function momentOf(at) {
  return format(at, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

/** The day as a field for dates has it: 2026-11-28. */
export function dateOf(at) { return format(at, { dateStyle: "short" }, "en-CA"); }

function format(at, options, language = "en-GB") {
  const { timeZone } = app().configuration ?? {};
  return new Intl.DateTimeFormat(language, { timeZone, ...options }).format(new Date(at));
}

// The work session: float, reports, cash movements, and its end. What moves money or ends the session lies on the disk
// before it is sent, so that a lost answer is had by asking again.

import { ApiError, at, get, post, put } from "./api.js";
import { isDisproved, isUnknown } from "./cash.js";
import { KEY_HOLDS, serverNow } from "./clock.js";
import { change, read, readAll, remove, writeTogether } from "./store.js";
import { app, update } from "./state.js";

const SESSIONS = "/v1/pos/sessions";
const MOVEMENT = "movement"; // In the store `device`: {locationId, userId, key, request, createdAt}.
const CLOSING = "closing"; // In the store `device`: {sessionId, userId, request}.
const MAY_BE_CLOSED = "The session may be closed already. Sign in to see its Z report.";
export const REPORT = "zReport"; // In the store `device`: the report to show, until it was seen.

/** The session of this sign-in. Raises ApiError. */
export async function currentSession() { return get(`${SESSIONS}/current`); }

export async function setFloat(openingFloat) { return put(`${SESSIONS}/current`, { openingFloat }); }

/** The X report of now; the Z report of a closed session. */
export async function readReport(sessionId = "current") { return get(pathOf(sessionId, "report")); }

function pathOf(sessionId, call) { return `${SESSIONS}/${encodeURIComponent(sessionId)}/${call}`; }

/** Move cash into or out of the drawer: `{type, amountInPence, reason}`. Raises ApiError. */
export async function moveCash(request) {
  const { location, user } = app();
  const movement = {
    locationId: location.id, userId: user.id, key: crypto.randomUUID(), request, createdAt: serverNow(),
  };
  await change("device", MOVEMENT, (before) => {
    if (before) throw new ApiError(0, "open_movement", "Ask first whether the last one was booked.");
    return movement;
  });
  return sendMovement(movement);
}

/** The movement of which it is not known whether the shop booked it, null where there is none. */
export async function openMovement() { return await read("device", MOVEMENT) ?? null; }

/** Ask about it by sending it again. Raises ApiError. */
export async function resumeMovement() {
  const movement = await openMovement();
  if (!movement) return null;
  const isOwn = movement.userId === app().user.id && movement.locationId === app().location.id;
  if (!isOwn || serverNow() - movement.createdAt > KEY_HOLDS) {
    throw new ApiError(0, "not_repeatable", "The shop cannot be asked about this any more. Look into the X report.");
  }
  return sendMovement(movement, true);
}

export async function forgetMovement() { await remove("device", MOVEMENT); }

async function sendMovement(movement, isRepeated = false) {
  try {
    const booked = await post(at("cashMovements"), movement.request, { key: movement.key });
    await forgetMovement();
    return booked;
  } catch (error) {
    const isRefused = error instanceof ApiError && (isRepeated ? isDisproved(error) : !isUnknown(error));
    if (isRefused) await forgetMovement();
    throw error;
  }
}

/** Close the session with what was counted. Returns its Z report, which is on the disk then: its user is signed out.
    Raises ApiError. */
export async function closeSession(sessionId, countedCash, closingNote) {
  const closing = { sessionId, userId: app().user.id, request: { countedCash, closingNote } };
  await writeTogether([["device", closing, CLOSING]]);
  try {
    return await keepReport(await post(pathOf(sessionId, "close"), closing.request));
  } catch (error) {
    const isUnsent = error.code === "locked";
    if (error.status === 401 && !isUnsent) update({ notice: MAY_BE_CLOSED });
    else if (error.status > 0 && error.status < 500) await remove("device", CLOSING);
    throw error;
  }
}

/** Where the answer to closing was lost: the Z report of the session, null where it was not closed. Raises ApiError. */
export async function resumeClosing() {
  const closing = await read("device", CLOSING);
  if (!closing || closing.userId !== app().user.id) return null;
  const report = await readReport(closing.sessionId);
  if (report.type === "Z") return keepReport(report);
  await remove("device", CLOSING);
  return null;
}

async function keepReport(report) {
  await writeTogether([["device", report, REPORT], ["device", undefined, CLOSING]]);
  return report;
}

/** Why the session cannot be closed now, a sentence; null where it can. */
export async function closingRefusal() {
  if (app().unsent) return "Sales made without a network are not booked yet, and would miss in the report.";
  if ((await readAll("payments")).length) return "A payment is not final yet. Finish it first.";
  if (await openMovement()) return "It is not known yet whether the last movement was booked. Ask again first.";
  const sales = await readAll("sales");
  if (sales.some((sale) => sale.paid.length && !sale.isFinished && !sale.isTraining)) {
    return "A sale is paid in part, maybe a parked one. Finish it or give the money back first.";
  }
  if (!app().isOnline) return "There is no network. Closing needs one.";
  return null;
}

// Signing in and out, unlocking and locking, and what the end of a session means.

import { ApiError, get, post } from "./api.js";
import { serverNow } from "./clock.js";
import { isIn, watchUse } from "./locking.js";
import { loadSale } from "./sale.js";
import { change, read, remove, write, writeTogether } from "./store.js";
import { app, onUpdate, update } from "./state.js";
import * as tokens from "./tokens.js";
import { follow as followTraining, shownConfiguration } from "./training.js";
import * as vault from "./vault.js";

// Milliseconds between looks whether a shop that did not answer is there again; the last one from then on.
const PROBES = [500, 1_000, 2_000, 3_000];
const channel = new BroadcastChannel("till-session");
const LOCKED_OUT = "The PIN was wrong five times, so this session was ended. Sign in with your password.";
const AGAIN = "Sign in again to go on.";
const MAY_NOT_SELL = new ApiError(
  403, "pos_role_required", "This account may not sell. Ask an admin to make you an agent of the till.",
);

// Whoever signs in needs none of these yet.
const payments = () => import("./payments.js");
const pendingWork = () => import("./pending_work.js");

addEventListener("online", sendEnd);

tokens.followSession({ ended: end, unproven: showLocked, lost: recover });

channel.addEventListener("message", ({ data }) => {
  if (data.kind === "signedOut") leave();
  if (data.kind === "ended" && app().phase !== "signIn") showSignIn(data.reason);
  if (data.kind === "locked" && isIn()) showLocked();
  if (data.kind === "signedIn" || (data.kind === "setUp" && ["signIn", "setUp"].includes(app().phase))) restart();
});

/** Another tab signed in, or set up the quick unlock of its session, which is the one of this tab, too. */
async function restart() {
  tokens.dropTokens();
  await start();
}

/** Sign in. Raises ApiError; who may not sell gets one with the code `pos_role_required`. */
export async function signIn(email, password) {
  const device = await tokens.deviceOfTill();
  const body = { email, password, deviceId: device.id, deviceName: device.name, audience: "pos", ...device.token };
  const granted = await post("/v1/auth/login", body, { isOpen: true })
    .catch((error) => { throw error.code === MAY_NOT_SELL.code ? MAY_NOT_SELL : error; });
  if (!granted.user.roles.includes("POS_AGENT") || !granted.agent) {
    await tokens.giveBack(granted);
    throw MAY_NOT_SELL;
  }
  await endAtShop(); // The session before this one, in whichever tab that was.
  tokens.dropTokens();
  await vault.erase();
  await write("device", granted.deviceToken, "deviceToken");
  await tokens.accept(granted);
  channel.postMessage({ kind: "signedIn" });
  await followTraining();
  await chooseFirstLocation();
  return enter();
}

/** What signing in and unlocking lead to: a location is chosen, the quick unlock set up, and what the shop configured
    known, each where that is not so already. The session may end on the way, the till be locked, or another location
    be chosen. */
export async function enter() {
  if (app().phase === "setUp") channel.postMessage({ kind: "setUp" });
  const { location, locations, configuration: known } = app();
  const isOver = () => !tokens.hasTokens() || app().location?.id !== location?.id;
  if (isOver()) return undefined;
  if (!location && locations.length) return update({ phase: "location" });
  const failure = location && !known ? await loadConfiguration().then(() => null, (error) => error) : null;
  if (isOver()) return undefined;
  if (await lacksUnlock()) return update({ phase: "setUp", notice: null });
  if (!location) return update({ phase: "ready" });
  if (!app().configuration) return update({ phase: "notReady", notice: failure.message });
  if (app().phase === "notReady") update({ notice: null });
  await loadSale();
  await (await payments()).resumePayment();
  if (isOver()) return undefined;
  update({ phase: "ready" });
  if (known) loadAgain().catch(() => {}); // Nobody waits for it: it is tried again when the shop is back.
  return (await pendingWork()).resumePendingWork();
}

/** Whether the quick unlock is still to be set up: by everybody at first, and where the shop wants one by now also by
    who went without. */
async function lacksUnlock() {
  return await vault.isEmpty() || (app().configuration?.unlockRequired === true && !await vault.needsGesture());
}

async function loadAgain() {
  await loadConfiguration();
  if (app().phase === "ready" && await lacksUnlock()) update({ phase: "setUp" });
}

export async function chooseLocation(location) {
  await write("device", location, "location");
  update({ location, configuration: null });
  await enter();
}

export async function leaveLocation() {
  await remove("device", "location");
  update({ phase: "location", location: null, notice: null });
}

/** At the start of the app: signed out, locked, or in. */
export async function start() {
  sendEnd();
  watchUse(showLocked);
  const signedIn = await read("device", "signedIn");
  if (await read("device", "zReport")) await (await pendingWork()).showPendingReport();
  if (!signedIn || await vault.isEmpty()) return update({ phase: "signIn" });
  const { user, agent, locations } = signedIn;
  const location = await read("device", "location") ?? null;
  update({ user, agent, locations, location, configuration: await storedConfiguration(location) });
  if (await vault.needsGesture()) return update({ phase: "locked" });
  return unlock(() => vault.openWithoutGesture()).catch((error) => end(error.isUncertain ? AGAIN : error.message));
}

/** What is known of the location from before. */
async function storedConfiguration(location) {
  const stored = await read("device", "configuration");
  return stored && stored.locationId === location?.id ? shownConfiguration(stored) : null;
}

/** Unlock: `open` gives the tokens and, where the shop wants one, an assertion. It is called once nothing of the time
    before is under way any more. Raises what it raises. */
export async function unlock(open) {
  await locking;
  const { sessionExpiresAt } = await read("device", "signedIn") ?? {};
  if (Date.parse(sessionExpiresAt) <= serverNow()) return end("session_expired");
  try {
    const { tokens: opened, assertion } = await open();
    tokens.holdTokens(opened);
    if (assertion) await tokens.refresh(assertion); // Others are refreshed by the first request, as ever.
  } catch (error) {
    if (error.code in tokens.ENDED) return end(error.code);
    if (!tokens.hasTokens() || !comesLater(error)) {
      tokens.dropTokens();
      throw error;
    }
  }
  return enter();
}

/** Whether what keeps a till from refreshing at the moment is over later. */
function comesLater(error) {
  return error instanceof ApiError && (error.isUncertain || error.code === "offline" || error.status === 429);
}

/** A request was made without tokens, which a till in use has: it is opened anew. */
async function recover() {
  if (app().phase === "ready") await start();
}

/** The PIN was wrong too often: nothing opens this session any more, here and at the shop. Sales stay. */
export async function lockOut() {
  await endAtShop("PIN_LOCKOUT");
  await end(LOCKED_OUT);
}

/** Leave the locked session for another sign-in. Sales stay. */
export async function abandon() {
  await endAtShop();
  await end(AGAIN);
}

/** End the session at the shop, now or, without a network, as soon as there is one. */
async function endAtShop(reason) {
  const endToken = await read("device", "endToken");
  if (!endToken) return;
  await writeTogether([["device", { endToken, reason }, "sessionToEnd"], ["device", undefined, "endToken"]]);
  sendEnd(); // Nobody waits for it: the session is over here.
}

async function sendEnd() {
  const body = await read("device", "sessionToEnd");
  if (!body) return;
  const isSent = await post("/v1/auth/logout", body, { isOpen: true }).then(() => true, () => false);
  const isOther = (stored) => stored && stored.endToken !== body.endToken;
  if (isSent) await change("device", "sessionToEnd", (stored) => (isOther(stored) ? stored : undefined));
}

/** Lock the till in every tab. */
export function lock() {
  if (!isIn()) return;
  channel.postMessage({ kind: "locked" });
  showLocked();
}

let locking = null;

async function showLocked() {
  if (!await vault.needsGesture()) return;
  update({ phase: "locked" });
  // A refresh under way seals what it is given before the key goes.
  locking = navigator.locks.request("till-refresh", () => tokens.dropTokens());
  await locking;
}

/** Sign out: nothing stays on the device. Unless the agent `isSure`, what that would lose is returned in words, and
    nothing happens where it is anything. Raises ApiError (`unsent_sales`, `open_payment`, `open_refund`) where it would
    lose money. */
export async function signOut(isSure) {
  const lost = await (await import("./signing_out.js")).clearDevice(isSure);
  if (lost.length) return lost;
  channel.postMessage({ kind: "signedOut" });
  for (const name of await caches.keys()) if (name.startsWith("till-pictures")) await caches.delete(name);
  leave();
  return [];
}

/** Begin anew, with nothing in memory; the start also ends the session at the shop. */
function leave() {
  tokens.dropTokens();
  update({ phase: "starting" });
  location.replace("/till");
}

/** End the session because the shop says so, or the PIN was wrong too often. Sales stay. */
export async function end(code) {
  channel.postMessage({ kind: "ended", reason: code });
  tokens.dropTokens();
  await vault.erase(); // By this tab alone: one that hears of it late would erase what was sealed since.
  showSignIn(code);
}

function showSignIn(code) {
  tokens.dropTokens();
  update({ phase: "signIn", notice: tokens.ENDED[code] ?? code });
}

async function chooseFirstLocation() {
  const known = await read("device", "location");
  const places = app().locations;
  const location = places.find((place) => place.id === known?.id) ?? (places.length === 1 ? places[0] : null);
  if (location) await write("device", location, "location");
  update({ location, configuration: null });
}

/** Ask the shop what it configured for the location; an answer that comes after another one was chosen is left. */
async function loadConfiguration() {
  const { id } = app().location;
  const configuration = await get(`/v1/pos/${encodeURIComponent(id)}/configuration`);
  if (app().location?.id !== id) return;
  await write("device", configuration, "configuration");
  update({ configuration: shownConfiguration(configuration) });
}

let probing = null;
let probes = 0;

onUpdate(({ isOnline, phase }) => {
  if (isOnline) probes = 0;
  if (isOnline || phase !== "ready" || probing) return;
  probing = setTimeout(probe, PROBES[Math.min(probes, PROBES.length - 1)]);
});

/** See whether the shop is there again; the first answer says so to all. */
async function probe() {
  probes += 1;
  await loadConfiguration().catch(() => {});
  probing = null;
  if (!app().isOnline) update({});
}

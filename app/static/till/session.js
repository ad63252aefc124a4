// Signing in and out, unlocking and locking, and what the end of a session means.

import { ApiError, get, post } from "./api.js";
import { serverNow } from "./clock.js";
import { watchUse } from "./locking.js";
import { loadSale } from "./sale.js";
import { clear, read, remove, STORES, write, writeTogether } from "./store.js";
import { app, onUpdate, update } from "./state.js";
import * as tokens from "./tokens.js";
import { shownConfiguration } from "./training.js";
import * as vault from "./vault.js";

// Milliseconds between looks whether a shop that did not answer is there again; the last one from then on.
const PROBES = [500, 1_000, 2_000, 3_000];
const FRESH = 2 * 60_000; // Milliseconds that an access token must still hold to be used after unlocking.
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
  if (data.kind === "ended" && app().phase !== "signIn") showSignIn(data.reason);
  if (data.kind === "locked" && app().phase === "ready") showLocked();
});

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
  await write("device", granted.deviceToken, "deviceToken");
  await tokens.accept(granted);
  await chooseFirstLocation();
  if (app().location) await loadConfiguration().catch(() => {});
  if (tokens.hasTokens()) update({ phase: "setUp", notice: null });
}

/** What the sign-in screen leads to once the quick unlock is set up, or where none is needed. The session may end on
    the way, or the till be locked. */
export async function enter() {
  if (!app().location) return update({ phase: app().locations.length ? "location" : "ready" });
  const failure = await loadConfiguration().then(() => null, (error) => error);
  if (!tokens.hasTokens()) return undefined;
  if (!app().configuration) return update({ phase: "notReady", notice: failure.message });
  if (app().phase === "notReady") update({ notice: null });
  await loadSale();
  await (await payments()).resumePayment();
  if (!tokens.hasTokens()) return undefined;
  update({ phase: "ready" });
  watchUse(() => showLocked());
  return (await pendingWork()).resumePendingWork();
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

/** Unlock: `open` gives the tokens and, where the shop wants one, an assertion. Raises what `open` raises. */
export async function unlock(open) {
  await locking;
  const { sessionExpiresAt } = await read("device", "signedIn") ?? {};
  if (Date.parse(sessionExpiresAt) <= serverNow()) return end("session_expired");
  try {
    const { tokens: opened, assertion } = await open();
    tokens.holdTokens(opened);
    if (navigator.onLine && !tokens.holdsFor(FRESH)) await tokens.refresh(assertion);
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
  await sendEnd();
}

async function sendEnd() {
  const body = await read("device", "sessionToEnd");
  if (!body) return;
  await post("/v1/auth/logout", body, { isOpen: true }).then(() => remove("device", "sessionToEnd"), () => {});
}

/** Lock the till in every tab. */
export function lock() {
  if (app().phase !== "ready") return;
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

/** Sign out: nothing stays on the device. Raises ApiError (`unsent_sales`, `open_payment`) where that would lose
    money. */
export async function signOut() {
  await (await import("./signing_out.js")).refuseToForget();
  await endAtShop();
  channel.postMessage({ kind: "ended", reason: null });
  await forget();
}

async function forget() {
  tokens.dropTokens();
  await clear(...STORES);
  for (const name of await caches.keys()) if (name.startsWith("till-pictures")) await caches.delete(name);
  const nobody = { user: null, agent: null, locations: [], location: null, configuration: null };
  update({ phase: "signIn", ...nobody, sale: null, payment: null, unsent: 0, isTraining: false, path: "/till" });
  history.replaceState(null, "", "/till");
}

/** End the session because the shop says so, or the PIN was wrong too often. Sales stay. */
export async function end(code) {
  channel.postMessage({ kind: "ended", reason: code });
  await showSignIn(code);
}

async function showSignIn(code) {
  tokens.dropTokens();
  await vault.erase();
  update({ phase: "signIn", notice: tokens.ENDED[code] ?? code });
}

async function chooseFirstLocation() {
  const known = await read("device", "location");
  const places = app().locations;
  const location = places.find((place) => place.id === known?.id) ?? (places.length === 1 ? places[0] : null);
  if (location) await write("device", location, "location");
  update({ location });
}

async function loadConfiguration() {
  const configuration = await get(`/v1/pos/${encodeURIComponent(app().location.id)}/configuration`);
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

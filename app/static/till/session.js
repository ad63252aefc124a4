// Signing in and out, the tokens, and locking. The access token is in memory alone; the refresh token lies on the
// device sealed by the vault. One tab at a time refreshes.

import { ApiError, get, post, request, useTokens } from "./api.js";
import { saveClock } from "./clock.js";
import { isUnsent } from "./offline.js";
import { resumePendingWork, showPendingReport } from "./pending_work.js";
import { resumePayment } from "./payments.js";
import { hasUnansweredRefund } from "./refunds.js";
import { loadSale } from "./sale.js";
import { clear, read, readAll, remove, STORES, write, writeTogether } from "./store.js";
import { app, update } from "./state.js";
import { shownConfiguration } from "./training.js";
import * as vault from "./vault.js";

const EARLY = 60_000; // Milliseconds before the access token is over that it is renewed.
const HIDDEN = 2 * 60_000;
const IDLE = 5 * 60_000;
const channel = new BroadcastChannel("till-session");
const LOCKED_OUT = "The PIN was wrong five times, so this session was ended. Sign in with your password.";
// What keeps a till from refreshing at the moment it is unlocked, and is over later.
const GOES_ON_WITHOUT = ["offline", "no_answer", "rate_limited"];
const ENDED = {
  session_expired: "You were signed in for 24 hours. Sign in again to go on.",
  session_revoked: "This session was ended, by an admin or because something about it was suspicious. Sign in again.",
  refresh_reused:
    "This session was ended because its token was used twice, which a stolen one would be. Sign in again.",
  token_invalid: "The shop does not know this session any more. Sign in again.",
};

addEventListener("online", sendEnd);

let tokens = null; // {access, expiresAt (ms by this clock), refresh, sessionExpiresAt}

useTokens({
  token: async () => {
    if (!tokens) throw new ApiError(401, "locked", "The till is locked.");
    if (tokens.expiresAt - Date.now() < EARLY) {
      await refresh().catch((error) => { if (tokens.expiresAt < Date.now()) throw error; });
    }
    return tokens.access;
  },
  refused: async (error) => {
    if (error.code === "token_expired") return refresh().then(() => true);
    if (error.code in ENDED) await end(error.code);
    return false;
  },
});

channel.addEventListener("message", ({ data }) => {
  if (data.kind === "tokens" && tokens) tokens = data.tokens;
  if (data.kind === "ended" && app().phase !== "signIn") showSignIn(data.reason);
  if (data.kind === "locked" && app().phase === "ready") showLocked();
});

/** Sign in. Raises ApiError; who may not sell gets one with the code `pos_role_required`. */
export async function signIn(email, password) {
  const device = await deviceOfTill();
  const body = { email, password, deviceId: device.id, deviceName: device.name, audience: "pos", ...device.token };
  const granted = await post("/v1/auth/login", body, { isOpen: true });
  if (!granted.user.roles.includes("POS_AGENT") || !granted.agent) {
    await post("/v1/auth/logout", { refreshToken: granted.refreshToken }, { isOpen: true }).catch(() => {});
    const detail = "This account may not sell. Ask an admin to make you an agent of the till.";
    throw new ApiError(403, "pos_role_required", detail);
  }
  await write("device", granted.deviceToken, "deviceToken");
  await accept(granted);
  await write("device", { user: granted.user, agent: granted.agent, locations: granted.locations }, "signedIn");
  await chooseFirstLocation();
  if (app().location) await loadConfiguration().catch(() => {});
  update({ phase: "setUp" });
}

/** What the sign-in screen leads to once the quick unlock is set up, or where none is needed. */
export async function enter() {
  if (!app().location) return update({ phase: app().locations.length ? "location" : "ready" });
  await loadConfiguration().catch(() => {});
  await loadSale();
  await resumePayment();
  update({ phase: "ready" });
  watch();
  await resumePendingWork();
}

export async function chooseLocation(location) {
  await write("device", location, "location");
  update({ location, configuration: null });
  await enter();
}

/** At the start of the app: signed out, locked, or in. */
export async function start() {
  sendEnd();
  const signedIn = await read("device", "signedIn");
  await showPendingReport();
  if (!signedIn || await vault.isEmpty()) return update({ phase: "signIn" });
  const configuration = shownConfiguration(await read("device", "configuration") ?? null);
  update({ ...signedIn, location: await read("device", "location"), configuration });
  if (await vault.needsGesture()) return update({ phase: "locked" });
  await unlock(() => vault.openWithoutGesture());
}

/** Unlock: `open` gives the refresh token and, where the shop wants one, an assertion. Raises what `open` raises. */
export async function unlock(open) {
  try {
    const { refreshToken, assertion } = await open();
    tokens = { access: null, expiresAt: 0, refresh: refreshToken };
    if (navigator.onLine) await refresh(assertion);
  } catch (error) {
    if (error.code in ENDED) return end(error.code);
    if (!tokens || !GOES_ON_WITHOUT.includes(error.code)) {
      tokens = null;
      vault.forgetKeys();
      throw error;
    }
  }
  return enter();
}

/** The PIN was wrong too often: nothing opens this session any more, here and at the shop. Sales stay. */
export async function lockOut() {
  await endAtShop("PIN_LOCKOUT");
  await end(LOCKED_OUT);
}

/** Leave the locked session for another sign-in. Sales stay. */
export async function abandon() {
  await endAtShop();
  await end("Sign in again to go on.");
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

export function lock() {
  if (app().phase !== "ready" || !tokens) return;
  channel.postMessage({ kind: "locked" });
  showLocked();
}

async function showLocked() {
  if (!await vault.needsGesture()) return;
  tokens = null;
  vault.forgetKeys();
  update({ phase: "locked" });
}

/** Sign out: nothing stays on the device. Raises ApiError (`unsent_sales`, `open_payment`) where that would lose
    money. */
export async function signOut() {
  await refuseToForget();
  await endAtShop();
  channel.postMessage({ kind: "ended", reason: null });
  await forget();
}

async function refuseToForget() {
  const unsent = (await readAll("offline")).filter(isUnsent);
  if (unsent.length) {
    const sales = unsent.length === 1 ? "A sale was" : `${unsent.length} sales were`;
    throw new ApiError(0, "unsent_sales", `${sales} not sent to the shop yet. Look at the waiting sales.`);
  }
  if ((await readAll("payments")).some((payment) => !payment.isTraining)) {
    throw new ApiError(0, "open_payment", "A payment is not final yet. Finish it before you sign out.");
  }
  if ((await readAll("sales")).some((sale) => sale.paid.length && !sale.isFinished && !sale.isTraining)) {
    const detail = "A sale is paid in part. Finish it or give the money back before you sign out.";
    throw new ApiError(0, "open_payment", detail);
  }
  if (!app().isTraining && await hasUnansweredRefund()) {
    throw new ApiError(0, "open_refund", "A refund is not answered yet. Open its payment under Transactions first.");
  }
}

async function forget() {
  tokens = null;
  vault.forgetKeys();
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
  tokens = null;
  await vault.erase();
  update({ phase: "signIn", notice: ENDED[code] ?? code });
}

export async function refresh(assertion) {
  const spent = tokens?.refresh;
  return navigator.locks.request("till-refresh", async () => {
    if (!tokens) throw new ApiError(401, "locked", "The till is locked.");
    if (tokens.refresh !== spent && tokens.access) return; // Another tab was first.
    const { id } = await deviceOfTill();
    const body = { refreshToken: tokens.refresh, deviceId: id, ...(assertion ? { assertion } : {}) };
    const bearer = tokens.access ? { token: tokens.access } : { isOpen: true };
    try {
      await accept((await request("POST", "/v1/auth/refresh", { body, ...bearer })).body);
    } catch (error) {
      if (error.code in ENDED) await end(error.code);
      if (error.code === "assertion_required") await showLocked();
      throw error;
    }
  });
}

async function accept(granted) {
  // By this device's clock, which may be wrong by hours: how long it holds is what the shop says.
  const expiresAt = Date.now() + granted.expiresIn * 1000;
  const { token: access, refreshToken, sessionExpiresAt } = granted;
  tokens = { access, expiresAt, refresh: refreshToken, sessionExpiresAt };
  await vault.seal(granted.refreshToken);
  await saveClock();
  if (granted.endToken) await write("device", granted.endToken, "endToken");
  channel.postMessage({ kind: "tokens", tokens });
  update({ user: granted.user, agent: granted.agent, locations: granted.locations });
}

export function currentTokens() { return tokens; }

export async function deviceOfTill() {
  let id = await read("device", "deviceId");
  if (!id) await write("device", id = crypto.randomUUID(), "deviceId");
  const token = await read("device", "deviceToken");
  const platform = navigator.userAgentData?.platform || navigator.platform || "a browser";
  return { id, name: `Till on ${platform}`.slice(0, 60), token: token ? { deviceToken: token } : {} };
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

let watching = false;
let lastUse = Date.now();
let hiddenSince = null;

function watch() {
  if (watching) return;
  watching = true;
  for (const event of ["pointerdown", "keydown", "touchstart"]) {
    addEventListener(event, () => { lastUse = Date.now(); }, { passive: true });
  }
  document.addEventListener("visibilitychange", () => {
    hiddenSince = document.hidden ? Date.now() : null;
    if (!document.hidden) lockIfDue();
  });
  setInterval(lockIfDue, 5_000);
}

function lockIfDue() {
  const isHiddenLong = hiddenSince !== null && Date.now() - hiddenSince >= HIDDEN;
  if (isHiddenLong || Date.now() - lastUse >= IDLE) lock();
}

// The tokens of the session. Each tab has an access token of its own, in memory alone; the refresh token is one, sealed
// by the vault, and one tab at a time exchanges it.

import { ApiError, post, request, useTokens } from "./api.js";
import { saveClock } from "./clock.js";
import { read, write } from "./store.js";
import { update } from "./state.js";
import * as vault from "./vault.js";

const EARLY = 60_000; // Milliseconds before the access token is over that it is renewed.
// The shop gives the same answer again for 20 seconds, so a lost one is had by asking again at once.
const TRIES = 3;
const SECONDS = 6;
export const ENDED = {
  session_expired: "You were signed in for 24 hours. Sign in again to go on.",
  session_revoked: "This session was ended, by an admin or because something about it was suspicious. Sign in again.",
  refresh_reused:
    "This session was ended because its token was used twice, which a stolen one would be. Sign in again.",
  token_invalid: "The shop does not know this session any more. Sign in again.",
};

let tokens = null; // {access, expiresAt (milliseconds by this clock), refresh}
// Set by session.js: what becomes of the app where the session ended, wants a passkey again, or has no tokens here.
let session = { ended: async () => {}, unproven: async () => {}, lost: async () => {} };

export function followSession(handlers) { session = handlers; }

useTokens({
  token: async () => {
    if (!tokens) {
      await session.lost();
      throw locked();
    }
    if (tokens.expiresAt - Date.now() < EARLY) {
      await refresh().catch((error) => { if (!tokens || tokens.expiresAt < Date.now()) throw error; });
    }
    if (!tokens) throw locked();
    return tokens.access;
  },
  refused: async (error) => {
    if (error.code === "token_expired") return refresh().then(() => true);
    if (error.code in ENDED) await session.ended(error.code);
    return false;
  },
});

function locked() { return new ApiError(401, "locked", "The till is locked."); }

export function hasTokens() { return tokens !== null; }

/** Begin with a refresh token that was unsealed. */
export function holdToken(refreshToken) { tokens = { access: null, expiresAt: 0, refresh: refreshToken }; }

export function dropTokens() {
  tokens = null;
  vault.forgetKeys();
}

export function refreshToken() { return tokens?.refresh; }

/** Exchange the refresh token, with the passkey's assertion where the shop wants one. Raises ApiError. */
export async function refresh(assertion) {
  const before = tokens?.access;
  try {
    await navigator.locks.request("till-refresh", async () => {
      if (!tokens) throw locked();
      if (tokens.access !== before) return; // Another call of this tab was first.
      // An assertion is for the token that it was made with; else another tab may have sealed a newer one.
      const current = assertion ? tokens.refresh : await vault.openToken() ?? tokens.refresh;
      const { id: deviceId } = await deviceOfTill();
      await accept(await exchange({ refreshToken: current, deviceId, ...(assertion ? { assertion } : {}) }));
    });
  } catch (error) {
    if (error.code in ENDED) await session.ended(error.code);
    if (error.code === "assertion_required") await session.unproven();
    throw error;
  }
}

async function exchange(body) {
  const bearer = tokens.access ? { token: tokens.access } : {};
  for (let tries = 1; ; tries += 1) {
    try {
      const options = { body, isOpen: true, seconds: SECONDS, ...bearer };
      return (await request("POST", "/v1/auth/refresh", options)).body;
    } catch (error) {
      if (error.code !== "no_answer" || tries === TRIES || !navigator.onLine) throw error;
    }
  }
}

/** Take over what a sign-in or a refresh granted. */
export async function accept(granted) {
  const { token: access, refreshToken: refreshed, user, agent, locations, sessionExpiresAt } = granted;
  // By this device's clock, which may be wrong by hours: how long it holds is what the shop says.
  tokens = { access, expiresAt: Date.now() + granted.expiresIn * 1000, refresh: refreshed };
  await vault.seal(refreshed);
  await saveClock();
  await write("device", granted.endToken, "endToken");
  await write("device", { user, agent, locations, sessionExpiresAt }, "signedIn");
  update({ user, agent, locations });
}

/** End the session of a grant that is not taken over. */
export async function giveBack(granted) {
  await post("/v1/auth/logout", { refreshToken: granted.refreshToken }, { isOpen: true }).catch(() => {});
}

export async function deviceOfTill() {
  let id = await read("device", "deviceId");
  if (!id) await write("device", id = crypto.randomUUID(), "deviceId");
  const token = await read("device", "deviceToken");
  const platform = navigator.userAgentData?.platform || navigator.platform || "a browser";
  return { id, name: `Till on ${platform}`.slice(0, 60), token: token ? { deviceToken: token } : {} };
}

// The tokens of the session, sealed by the vault. The refresh token is one, and one tab at a time exchanges it.

import { ApiError, post, request, useTokens } from "./api.js";
import { saveClock, serverNow } from "./clock.js";
import { nameOfDevice } from "./device_name.js";
import { forPeople } from "./failure.js";
import { read, write } from "./store.js";
import { update } from "./state.js";
import * as vault from "./vault.js";

const EARLY = 60_000; // Milliseconds before the access token is over that it is renewed.
// The shop gives the same answer again for 20 seconds, so a lost one is had by asking again at once.
const TRIES = 3;
const SECONDS = 6;
const ANOTHER_TAB = "The till was used in another tab meanwhile. Unlock again.";
export const ENDED = {
  session_expired: "You were signed in for 24 hours. Sign in again to go on.",
  session_revoked: "This session was ended, by an admin or because something about it was suspicious. Sign in again.",
  refresh_reused:
    "This session was ended because its token was used twice, which a stolen one would be. Sign in again.",
  token_invalid: "The shop does not know this session any more. Sign in again.",
};

let tokens = null; // {access, accessEnds (the shop's time as text), refresh}
// Set by session.js: what becomes of the app where the session ended, wants a passkey again, or has no tokens here.
let session = { ended: async () => {}, unproven: async () => {}, lost: async () => {} };

export function followSession(handlers) { session = handlers; }

useTokens({
  token: async () => {
    if (!tokens) {
      await session.lost();
      throw locked();
    }
    if (!holdsFor(EARLY)) await refresh().catch((error) => { if (!tokens || !holdsFor(0)) throw error; });
    if (!tokens) throw locked();
    return tokens.access;
  },
  refused: async (error, token) => {
    // Of an earlier session nothing follows for this one; within this one the token was renewed meanwhile.
    if (token !== tokens?.access) return error.code === "token_expired" && tokens !== null;
    if (error.code === "token_expired") return refresh().then(() => true);
    if (error.code in ENDED) await session.ended(error.code);
    return false;
  },
});

function locked() { return new ApiError(401, "locked", "The till is locked."); }

export function hasTokens() { return tokens !== null; }

/** Begin with tokens that were unsealed. */
export function holdTokens({ refresh: sealed, access = null, accessEnds = null }) {
  tokens = { refresh: sealed, access, accessEnds };
}

/** Whether the access token holds for so many milliseconds at least. */
function holdsFor(milliseconds) {
  return tokens.access !== null && Date.parse(tokens.accessEnds) - serverNow() >= milliseconds;
}

export function dropTokens() {
  tokens = null;
  vault.forgetKeys();
}

export function currentTokens() { return tokens; }

/** Exchange the refresh token, with the passkey's assertion where the shop wants one. Raises ApiError. */
export async function refresh(assertion) {
  const before = tokens?.access;
  try {
    await navigator.locks.request("till-refresh", async () => {
      if (!tokens) throw locked();
      if (tokens.access !== before) return; // Another call of this tab was first.
      const held = tokens;
      const { refresh: refreshToken } = await vault.openTokens() ?? held; // Another tab may have sealed a newer one,
      if (assertion && refreshToken !== held.refresh) throw forPeople(ANOTHER_TAB); // for which the assertion is not.
      const { id: deviceId } = await deviceOfTill();
      const granted = await exchange({ refreshToken, deviceId, ...(assertion ? { assertion } : {}) });
      if (tokens === held) return accept(granted);
      giveBack(granted); // The session ended here meanwhile.
      throw locked();
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
  const { token, refreshToken, expiresAt, user, agent, locations, sessionExpiresAt } = granted;
  tokens = { access: token, accessEnds: expiresAt, refresh: refreshToken };
  await vault.seal(tokens);
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
  return { id, name: nameOfDevice(navigator.userAgent), token: token ? { deviceToken: token } : {} };
}

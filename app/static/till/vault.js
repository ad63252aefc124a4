// The sealed tokens: the refresh token, and the access token, so that not every unlocking spends a refresh. They are
// encrypted with the vault key, which is in memory while the till is unlocked and lies on the device only wrapped: by a
// PIN, by a passkey that gives a secret (PRF), by one that the shop verifies, or by nothing but the device where the
// shop lets agents go without.
//
// Every wrapping is also encrypted with a key of the device that no script can read out, so that a copy of the database
// is worth nothing on another device. A PIN of four digits still falls to whoever runs scripts in this browser and
// tries all of them; five tries, the 24 hours of a session and its revocation bound that loss.

import { change, read, remove, write, writeTogether } from "./store.js";

const ITERATIONS = 600_000; // Of PBKDF2 with SHA-256, as OWASP advises.
export const MOST_TRIES = 5;
const AES = "AES-GCM";
const DEVICE_KEY = "deviceKey";
const TOKEN = "token"; // {iv, data}: {refresh, access, accessEnds} as JSON under the vault key.
const WAYS = ["device", "pin", "passkey"]; // Each a record of how the vault key is wrapped.

let vaultKey = null;

export async function isEmpty() { return !await read("vault", TOKEN); }

/** The ways in which the vault can be unlocked: `{pin, passkey}`, whether by PIN, and the passkey (null: none) with
    `isVerified`: the shop wants its assertion with the next refresh. */
export async function waysToUnlock() {
  const [pin, passkey] = await Promise.all([read("vault", "pin"), read("vault", "passkey")]);
  return { pin: Boolean(pin), passkey: passkey ?? null };
}

/** Whether a finger or a PIN is needed to open it. */
export async function needsGesture() {
  const ways = await waysToUnlock();
  return ways.pin || ways.passkey !== null;
}

/** Seal the tokens, `{refresh, access, accessEnds}`. Before any way of unlocking is set up nothing is kept. */
export async function seal(tokens) {
  if (!vaultKey) return;
  await write("vault", await sealed(tokens, (await waysToUnlock()).passkey), TOKEN);
}

/** Where the shop verifies the passkey, scripts could open the vault without it: then the access token, which is good
    for itself, is left out. */
async function sealed({ refresh, access, accessEnds }, passkey) {
  const kept = passkey?.isVerified ? { refresh } : { refresh, access, accessEnds };
  return encrypt(vaultKey, new TextEncoder().encode(JSON.stringify(kept)));
}

/** Let the till be opened by a PIN, besides or instead of what opened it before. */
export async function setPin(pin, tokens) {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const wrapped = await wrap(await keyOfPin(pin, salt));
  await keepWay("pin", { salt, ...wrapped }, tokens, ["device", "failures"]);
}

/** Let the till be opened by a passkey: `secret` is what the passkey gives (PRF), null where the shop verifies it, and
    then nothing else opens the till. */
export async function setPasskey({ credentialId, secret, salt }, tokens) {
  const wrapped = await wrap(secret && await keyOfSecret(secret));
  const replaced = secret ? ["device"] : ["device", "pin", "failures"];
  await keepWay("passkey", { credentialId, salt, isVerified: !secret, ...wrapped }, tokens, replaced);
}

/** Let the till be opened by whoever holds the device. */
export async function setOpen(tokens) { await keepWay("device", await wrap(null), tokens, []); }

/** The PIN was not the one that was set up. */
export class WrongPin extends Error {
  constructor(attemptsLeft) {
    super("This PIN is wrong.");
    this.attemptsLeft = attemptsLeft;
  }
}

/** Open with the PIN. The try is counted before it is checked, so that neither a reload nor a second tab gives more of
    them. Returns `{tokens}`. Raises WrongPin. */
export async function openWithPin(pin) {
  const tries = await change("vault", "failures", (before = 0) => before + 1);
  if (tries > MOST_TRIES) throw new WrongPin(0);
  const way = await read("vault", "pin");
  const opened = way && await unwrap(way, await keyOfPin(pin, way.salt));
  if (!opened) throw new WrongPin(MOST_TRIES - tries);
  await remove("vault", "failures");
  return { tokens: await openTokens() };
}

/** Open with the passkey's secret, or with a gesture that the shop verifies (`secret` null). */
export async function openWithPasskey(secret) {
  const way = await read("vault", "passkey");
  if (!await unwrap(way, secret && await keyOfSecret(secret))) throw new Error("The passkey does not fit the vault.");
  if (secret) await remove("vault", "failures"); // Without one the key alone opened it, and nobody's finger.
  return { tokens: await openTokens() };
}

export async function openWithoutGesture() {
  await unwrap(await read("vault", "device"), null);
  return { tokens: await openTokens() };
}

/** Forget the key in memory, as the till locks. */
export function forgetKeys() { vaultKey = null; }

/** Erase what is sealed and every way to unlock it. */
export async function erase() {
  vaultKey = null;
  await writeTogether([TOKEN, DEVICE_KEY, "failures", ...WAYS].map((name) => ["vault", undefined, name]));
}

/** Keep a way to unlock, with the tokens, instead of what is `replaced`: whoever can be asked for a finger or a PIN is
    asked. */
async function keepWay(name, way, tokens, replaced) {
  await navigator.locks.request("till-refresh", async () => {
    // What is sealed already may be newer than this tab's. What this key does not open is of another sign-in.
    const known = await openTokens().catch((error) => { if (error.name !== "OperationError") throw error; });
    const passkey = name === "passkey" ? way : (await waysToUnlock()).passkey;
    const gone = known ? replaced : ["failures", ...WAYS].filter((other) => other !== name);
    await writeTogether([
      ["vault", way, name], ["vault", await sealed(known ?? tokens, passkey), TOKEN],
      ...gone.map((other) => ["vault", undefined, other]),
    ]);
  });
}

/** The sealed tokens as they are now, also where another tab sealed them; null where nothing is sealed. Raises Error
    where there is no key for them here: what a refresh gave could not be sealed either. */
export async function openTokens() {
  const stored = await read("vault", TOKEN);
  if (!stored) return null;
  if (!vaultKey) throw new Error("The vault is not open in this tab.");
  const { iv, data } = stored;
  return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt({ name: AES, iv }, vaultKey, data)));
}

/** Wrap the vault key, which is made now where there is none, with `key` (null for none) and the key of the device. */
async function wrap(key) {
  vaultKey ??= await crypto.subtle.generateKey({ name: AES, length: 256 }, true, ["encrypt", "decrypt"]);
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", vaultKey));
  const inner = key ? await encrypt(key, raw) : { iv: new Uint8Array(0), data: raw };
  return { inner: inner.iv, outer: await encrypt(await deviceKey(), new Uint8Array(inner.data)) };
}

/** Unwrap the vault key; false where the key does not fit. */
async function unwrap({ inner, outer }, key) {
  try {
    let raw = await crypto.subtle.decrypt({ name: AES, iv: outer.iv }, await deviceKey(), outer.data);
    if (key) raw = await crypto.subtle.decrypt({ name: AES, iv: inner }, key, raw);
    vaultKey = await crypto.subtle.importKey("raw", raw, AES, true, ["encrypt", "decrypt"]);
    return true;
  } catch (error) {
    if (error.name === "OperationError") return false;
    throw error;
  }
}

async function deviceKey() {
  const known = await read("vault", DEVICE_KEY);
  if (known) return known;
  const made = await crypto.subtle.generateKey({ name: AES, length: 256 }, false, ["encrypt", "decrypt"]);
  return change("vault", DEVICE_KEY, (other) => other ?? made);
}

async function keyOfPin(pin, salt) {
  const material = await crypto.subtle.importKey("raw", new TextEncoder().encode(pin), "PBKDF2", false, ["deriveKey"]);
  const derivation = { name: "PBKDF2", hash: "SHA-256", salt, iterations: ITERATIONS };
  return crypto.subtle.deriveKey(derivation, material, { name: AES, length: 256 }, false, ["encrypt", "decrypt"]);
}

async function keyOfSecret(secret) {
  const material = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  const info = new TextEncoder().encode("till vault");
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info };
  return crypto.subtle.deriveKey(derivation, material, { name: AES, length: 256 }, false, ["encrypt", "decrypt"]);
}

async function encrypt(key, bytes) {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  return { iv, data: await crypto.subtle.encrypt({ name: AES, iv }, key, bytes) };
}

// The sealed refresh token.

import { read, remove, write } from "./store.js";

/** Seal the refresh token under every way of unlocking that is set up. */
export async function seal(refreshToken) { await write("vault", refreshToken, "token"); }

export async function isEmpty() { return !await read("vault", "token"); }

/** Whether a finger or a PIN is needed to open it. */
export async function needsGesture() { return false; }

export async function openWithoutGesture() { return { refreshToken: await read("vault", "token") }; }

/** Forget the keys in memory, as the till locks. */
export function forgetKeys() {}

/** Erase what is sealed and every way to unlock it. */
export async function erase() { await remove("vault", "token"); }

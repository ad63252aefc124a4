// A smart reader, which the shop drives: it is given the payment, and asked until it has taken a card or stopped.

import { ApiError } from "../api.js";
import { desk } from "../desk.js";
import { read, remove, write } from "../store.js";
import { send, wait } from "./hand.js";

const CHOSEN = "reader"; // In the store `device`: the id of the reader that this till uses.
const PAUSES = [1_000, 1_000, 1_000, 2_000, 2_000, 3_000]; // Milliseconds between two looks; the last one from then on.
const NO_ATTEMPT = ["customer_canceled", "terminal_reader_timeout", "connection_error", "intent_invalid_state"];
const REFUSED = ["reader_busy", "reader_offline", "reader_not_found"];
const IS_OVER = ["already_captured", "payment_canceled", "payment_processing"];

export const smartReader = {
  stopsAfterFailure: true, // The agent says when the reader is to try again.

  async collect(payment, onState) {
    let notice = payment.notice;
    for (;;) {
      const readerId = await read("device", CHOSEN) ?? await choose(onState, notice);
      if (!readerId) return false;
      try {
        await onState({ state: "waiting", notice: null, readers: null });
        await give(readerId, payment.intentId);
        return await follow(readerId, payment.intentId, onState);
      } catch (error) {
        if (IS_OVER.includes(error.code)) return true;
        if (!REFUSED.includes(error.code)) throw error;
        notice = error.message;
        await remove("device", CHOSEN);
      }
    }
  },

  async cancel() {
    const readerId = await read("device", CHOSEN);
    // A reader that charges the card just now refuses, and one out of reach does not hear: the payment itself is
    // cancelled next, and says which of the two it is.
    if (readerId) await desk().cancelReader(readerId).catch(() => {});
  },
};

/** Have the agent choose a reader; null where they stop instead. */
async function choose(onState, notice) {
  for (;;) {
    await onState({ state: "reader", notice, ...await findReaders() });
    const chosen = await wait();
    if (chosen?.kind === "again") continue;
    if (chosen?.kind !== "reader") return null;
    await write("device", chosen.id, CHOSEN);
    return chosen.id;
  }
}

async function findReaders() {
  try {
    return { readers: await desk().listReaders() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { readers: [], notice: error.message };
  }
}

/** Give the payment to the reader. Where the answer is lost, looking at the reader shows whether it took it. */
async function give(readerId, intentId) {
  try {
    await desk().processOnReader(readerId, intentId);
  } catch (error) {
    if (!error.isUncertain) throw error;
  }
}

/** Look until the payment is no longer waiting for a card, or the reader no longer for it. Raises ApiError. */
async function follow(readerId, intentId, onState) {
  for (let looks = 0, isLost = false; ; looks += 1) {
    if (await wait(PAUSES[Math.min(looks, PAUSES.length - 1)])) return false;
    try {
      const found = await look(readerId, intentId);
      if (found) await onState(found);
      if (found) return true;
      if (isLost) await onState({ state: "waiting", notice: null });
      isLost = false;
    } catch (error) {
      if (!(error instanceof ApiError) || !comesLater(error)) throw error;
      await onState({ state: "unknown", notice: error.message });
      isLost = true;
    }
  }
}

/** Whether the reader can be looked at again later: a till that was locked is unlocked by then. */
function comesLater(error) { return error.isUncertain || !error.status || [401, 429].includes(error.status); }

/** What came of it, as changes of the payment; null while the reader waits for the card. */
async function look(readerId, intentId) {
  const intent = await desk().readIntent(intentId);
  if (intent.status !== "requires_payment_method") return { state: "processing" };
  const { action } = await desk().readReader(readerId);
  const isOurs = action?.paymentIntentId === intentId;
  if (isOurs && action.status === "in_progress") return null;
  const hasStopped = !isOurs || NO_ATTEMPT.includes(action.failureCode); // Else the card was declined, or has paid.
  if (!hasStopped) return { state: "processing" };
  return { isStopped: true, notice: action?.failureMessage ?? "The reader stopped." };
}

export function chooseReader(id) { send({ kind: "reader", id }); }

export function listReadersAgain() { send({ kind: "again" }); }

export async function forgetReader() { await remove("device", CHOSEN); }

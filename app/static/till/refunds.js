// Refunds. One is on the disk with its Idempotency-Key before it is sent, and stays there until the shop says how it
// ended: after a lost answer it is sent again under the same key, which never gives the money back twice.

import { forPeople } from "./failure.js";
import { desk } from "./desk.js";
import { change, read, readAll, remove, write } from "./store.js";
import { app } from "./state.js";

const PREFIX = "refund-"; // In the store `device`, with the id of the transaction.
const ASKED = "ASKED"; // Sent, or about to be, and not answered.
const WAITING = "WAITING"; // The shop has it, and does not know yet how it ends.
// Answers to a repeated request that say that nothing was or will be given back under its key. Others, such as an ended
// session or a rate limit, say nothing about the first one.
const REFUSALS = new Set([
  "processor_error", "processor_misconfigured", "amount_invalid", "already_refunded", "refund_exceeds_payment",
  "payment_not_refundable", "tender_not_possible", "work_session_closed", "work_session_not_found", "cash_disabled",
  "cash_not_permitted", "idempotency_mismatch",
]);

/* A record: {transactionId, key, body: {amountInPence, reason, tender}, state, isRepeated} */

/** The refund of a payment that is not final yet, undefined where there is none. */
export async function openRefund(transactionId) { return read("device", PREFIX + transactionId); }

/** Whether there is a refund of which the shop has not said anything yet. `stores`: the transaction to look in. */
export async function hasUnansweredRefund(stores) {
  const names = IDBKeyRange.bound(PREFIX, `${PREFIX}\uffff`);
  const records = await (stores ? stores.objectStore("device").getAll(names) : readAll("device", names));
  return records.some(({ state }) => state === ASKED);
}

/** Give back a payment, or a part of it. `body`: {amountInPence, reason, tender}. As `sendRefund`. */
export async function startRefund(transactionId, body) {
  const record = { transactionId, key: crypto.randomUUID(), body, state: ASKED, isRepeated: false };
  const stored = await change("device", PREFIX + transactionId, (before) => before ?? record);
  if (stored.key !== record.key) {
    throw forPeople("Another refund of this payment is not final yet.");
  }
  return sendRefund(transactionId);
}

/** Send the open refund of a payment, or send it again. Returns the shop's refund once it is made, null while nobody
    knows. Raises ApiError where it was refused; nothing is given back then. */
export async function sendRefund(transactionId) {
  return navigator.locks.request(`till-refund-${transactionId}`, async () => {
    const record = await openRefund(transactionId);
    if (!record) return null;
    const sent = { ...record, isRepeated: true };
    await write("device", sent, PREFIX + transactionId);
    try {
      const { status, body } = await desk().refund(transactionId, record.body, record.key);
      if (status === 202) await write("device", { ...sent, state: WAITING }, PREFIX + transactionId);
      else await remove("device", PREFIX + transactionId);
      return status === 202 ? null : body;
    } catch (error) {
      if (!isRefusal(error, record)) return null;
      await remove("device", PREFIX + transactionId);
      throw error;
    }
  });
}

function isRefusal(error, record) {
  if (REFUSALS.has(error.code)) return true;
  return !record.isRepeated && (error.code === "offline" || (error.status >= 400 && error.status < 500));
}

/** Whether the user may refund a payment: `{may, reason}`, with what stands against it in words. */
export function mayRefund(transaction) {
  const { agent, user, configuration } = app();
  const isAdmin = user?.roles.some((role) => role === "ADMIN" || role === "SUPERADMIN");
  if (!configuration?.permissions.refunds) return { may: false, reason: "You may not give refunds. Ask an admin." };
  if (!isAdmin && transaction.agentId !== agent?.id) {
    return { may: false, reason: "A colleague took this payment. They or an admin can refund it." };
  }
  return { may: true, reason: null };
}

/** What can still be given back of a payment, in minor units. */
export function refundable({ amountInPence, tipInPence, refundedAmount }) {
  return amountInPence + tipInPence - (refundedAmount ?? 0);
}

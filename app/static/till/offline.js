// Sales in cash that were made without a network. Each is in the log of the store `offline` before its receipt is
// shown, and is sent until the shop has answered. Its id is that of the sale, so that it is one however often it is
// written or sent.

import { ApiError, post } from "./api.js";
import { serverNow } from "./clock.js";
import { money, rounded } from "./money.js";
import { isPaidInPart, ORDER, refusal, sumOfLines, whilePayable } from "./sale.js";
import { change, read, readAll, remove, writeTogether } from "./store.js";
import { app, update } from "./state.js";

export const WAITING = "WAITING";
export const SENT = "SENT";
export const REFUSED = "REFUSED";
const EVERY = 30_000; // Milliseconds.
const MOST = 100; // Sales in a request,
const LARGEST = 1_000_000; // and characters.
const KEPT = 7 * 24 * 3_600_000; // Milliseconds that sent ones are shown.
const channel = new BroadcastChannel("till-offline");

/* A record: {clientSaleId, locationId, currency, soldAt, lines: [{skuCode, name, detail, quantity, unitPriceInPence}],
   total, toPay, tenderedInPence, change, note, state, sentAt, notes: [{code, detail}], problem: {code, detail} | null,
   isRedated, isDealtWith} */

/** Whether the shop has a sale of the log neither booked nor looked at by a person. */
export function isUnsent({ state, isDealtWith }) { return state === WAITING || (state === REFUSED && !isDealtWith); }

/** Why cash of a sale cannot be taken without a network, a sentence; null where it can. `amount` is what to pay. */
export function offlineRefusal(sale, amount) {
  const { permissions, takesPayments, maxAmountInPence } = app().configuration;
  if (sale.kind !== ORDER) return "There is no network. Without one, only orders can be paid in cash.";
  if (!takesPayments) return "The shop takes no payments here now.";
  if (!permissions.cash) return "You may not take cash.";
  if (isPaidInPart(sale)) return "A part of this order is paid already. The rest of it needs the network.";
  if (sale.discount || sale.basket?.discount) return "An order with a discount needs the network.";
  if (!sale.lines.length) return "There is nothing in this order.";
  if (sale.unresolved?.length) return "A scanned code is not found yet. Find it or remove it first.";
  if (!sale.lines.every((line) => Number.isInteger(line.unitPrice))) return "A price in this order is not known here.";
  const total = sumOfLines(sale);
  if (amount !== total) return "Without a network an order is paid as a whole.";
  if (total > maxAmountInPence) return `The most that you may take is ${money(maxAmountInPence, sale.currency)}.`;
  return total > 0 ? null : "There is nothing to pay.";
}

/** Put the sale into the log and end it, in one step: as it is stored, while no payment of it began. `amount` is what
    the screen shows as due, `tendered` what was handed over, in minor units. Returns `{isFinished, change}`. Raises
    ApiError where nothing was taken. */
export async function storeOfflineSale(sale, amount, tendered) {
  const ended = await whilePayable(sale, ["offline"], async (stores, stored) => {
    const record = recordOf(stored, amount, tendered);
    const { toPay, change } = record;
    const after = { ...stored, isFinished: true, isChecked: true, offline: { toPay }, change };
    await stores.objectStore("offline").put(record);
    await stores.objectStore("sales").put(after);
    return after;
  });
  if (app().sale?.id === ended.id) update({ sale: ended });
  await count();
  return { isFinished: true, change: ended.change };
}

/** The record of a sale for the log. Raises ApiError where it cannot be sold without a network. */
function recordOf(sale, amount, tendered) {
  const reason = sale.isTraining ? "Training has no sales without a network." : offlineRefusal(sale, amount);
  if (reason) throw refusal("refused_here", reason);
  const total = sumOfLines(sale);
  const toPay = rounded(total, app().configuration.cashRounding);
  if (tendered < toPay) throw refusal("tendered_too_small", `${money(toPay, sale.currency)} is to be paid.`);
  return {
    clientSaleId: sale.id, locationId: sale.locationId, currency: sale.currency,
    soldAt: new Date(serverNow()).toISOString(), lines: sale.lines.map(lineOf),
    total, toPay, tenderedInPence: tendered, change: tendered - toPay, note: sale.note ?? "",
    state: WAITING, sentAt: null, notes: [], problem: null, isRedated: false, isDealtWith: false,
  };
}

function lineOf({ skuCode, name, options, quantity, unitPrice }) {
  const detail = Object.entries(options ?? {}).map(([option, value]) => `${option}: ${value}`).join(", ");
  return { skuCode, name, detail, quantity, unitPriceInPence: unitPrice };
}

/** The log, the latest sale first. */
export async function offlineSales() {
  return (await readAll("offline")).sort((a, b) => b.soldAt.localeCompare(a.soldAt));
}

/** A sale of the log by its id. */
export async function offlineSale(clientSaleId) { return read("offline", clientSaleId); }

/** Note that a person has dealt with a sale that the shop refused. */
export async function dealWith(clientSaleId) {
  await change("offline", clientSaleId, (record) => record && { ...record, isDealtWith: true }, false);
  await count();
}

/** Count what the shop does not have, here and in other tabs. */
async function count() {
  await recount();
  channel.postMessage({ kind: "changed" });
}

async function recount() { update({ unsent: (await readAll("offline")).filter(isUnsent).length }); }

let isStarted = false;

/** Send what waits: now, when the network is back, and every now and then. */
export async function startSending() {
  await removeOld();
  await recount();
  if (!isStarted) {
    isStarted = true;
    navigator.storage?.persist?.(); // So that the browser does not clear the log when the disk is full.
    channel.addEventListener("message", recount);
    addEventListener("online", sendWaiting);
    setInterval(sendWaiting, EVERY);
  }
  sendWaiting();
}

async function removeOld() {
  for (const record of await readAll("offline")) {
    if (record.state === SENT && serverNow() - record.sentAt > KEPT) await remove("offline", record.clientSaleId);
  }
}

/** Send what waits; one tab at a time. */
export async function sendWaiting() {
  if (app().phase !== "ready" || !navigator.onLine) return;
  await navigator.locks.request("till-offline", { ifAvailable: true }, (lock) => lock && sendAll());
}

async function sendAll() {
  let reason = null;
  const waiting = (await readAll("offline")).filter(({ state }) => state === WAITING);
  for (const locationId of new Set(waiting.map((record) => record.locationId))) {
    try {
      await sendOfLocation(locationId, waiting.filter((record) => record.locationId === locationId));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code !== "locked") reason = error.message;
    }
  }
  update({ unsentReason: reason });
  if (waiting.length) await count();
}

async function sendOfLocation(locationId, records) {
  const path = `/v1/pos/${encodeURIComponent(locationId)}/offlineSales`;
  for (const batch of batches(records)) {
    const { items } = await post(path, { sales: batch.map(asRequest) });
    const answered = batch.map((record, place) => answerTo(record, items[place]));
    await writeTogether(answered.map((record) => ["offline", record]));
    const redated = answered.filter((record, place) => record.soldAt !== batch[place].soldAt);
    if (redated.length) await sendOfLocation(locationId, redated);
  }
}

function batches(records) {
  const found = [[]];
  let size = 0;
  for (const record of records) {
    size += JSON.stringify(record).length;
    if (found.at(-1).length === MOST || (size > LARGEST && found.at(-1).length)) {
      found.push([]);
      size = JSON.stringify(record).length;
    }
    found.at(-1).push(record);
  }
  return found.filter((batch) => batch.length);
}

function asRequest({ clientSaleId, soldAt, lines, tenderedInPence, note }) {
  const sent = lines.map(({ skuCode, quantity, unitPriceInPence }) => ({ skuCode, quantity, unitPriceInPence }));
  return { clientSaleId, soldAt, lines: sent, tenderedInPence, note };
}

/** The record with what the shop answered. */
function answerTo(record, item) {
  if (item?.clientSaleId !== record.clientSaleId) return record;
  if (item.result !== REFUSED) return { ...record, state: SENT, sentAt: serverNow(), notes: item.notes, problem: null };
  // The clock of the device was changed since the shop answered last: by now its time is known again.
  if (item.problem.code === "sale_in_future" && !record.isRedated) {
    return { ...record, soldAt: new Date(serverNow()).toISOString(), isRedated: true };
  }
  return { ...record, state: REFUSED, problem: item.problem };
}

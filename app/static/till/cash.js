// Cash: what is about to be taken lies on the disk before it is sent, and an answer that was lost is had by sending the
// same again. Without a network the cash of an order goes to the log of offline.js.

import { ApiError } from "./api.js";
import { KEY_HOLDS, serverNow } from "./clock.js";
import { desk } from "./desk.js";
import { go } from "./navigation.js";
import { storeOfflineSale } from "./offline.js";
import { checkOrder, refreshOrder, refreshSale, settle } from "./order_check.js";
import { changeSale, due, keepPaid, keepPayment, leave, notePayment, ORDER } from "./sale.js";
import { inOne, read, readAll, writeTogether } from "./store.js";
import { app, update } from "./state.js";

export const CASH = "CASH";
const PROBE = 6; // Seconds for a look whether the shop is there, before money moves.
const LONGEST_PAUSE = 30_000;

/* A record in the store `payments`: {id, tender: "CASH", saleId, userId, locationId, isTraining, key, request,
   createdAt}; in the state also isUncertain. `request` is the one of desk.takeCash. */

/** Take cash for the sale under way: `amount` of what is due, for which `tendered` was handed over. Resolves once it is
    known what became of it: `{isFinished, change}`. Raises ApiError where nothing was taken. */
export async function takeCash({ amount, tendered }) {
  const { id } = app().sale;
  return alone(id, async () => {
    const sale = await currentSale(id);
    if (sale.isFinished) return { isFinished: true, change: sale.change ?? 0 };
    if (sale.unresolved?.length) throw refusal("A scanned code is not found yet. Find it or remove it first.");
    const asked = await askShop(sale);
    if (!asked) return takeOffline(sale, amount, tendered);
    if (due(asked).amount !== due(sale).amount) throw refusal("The total has changed. Look at it, then take the cash.");
    return begin(asked, amount, tendered);
  });
}

/** Open the drawer where the device has a printer. That it stays shut is no reason to say that cash was not taken. */
async function openDrawer({ isTraining }) {
  if (isTraining) return;
  try {
    await (await import("./printing/receipt_printing.js")).openDrawer();
  } catch (error) {
    console.info("The drawer did not open.", error);
  }
}

/** Go on with cash of which it is not known whether the shop has it; null where there is none. Resolves as takeCash. */
export async function resumeCash() {
  const record = await findRecord();
  if (!record) return null;
  update({ payment: { ...record, isUncertain: true } });
  return alone(record.saleId, () => follow(record, 0), { waits: true });
}

export async function findRecord() {
  return (await readAll("payments")).find((one) => one.tender === CASH) ?? null;
}

/** Whether the shop can say by a repeated request what became of this one. */
export function canRepeat(record) {
  return record.userId === app().user?.id && serverNow() - record.createdAt < KEY_HOLDS;
}

/** Give up on cash that the shop can say nothing about any more, once a person has looked for it. */
export async function giveUp(record) {
  await writeTogether([["payments", undefined, record.id]]);
  update({ payment: null });
  endPause(); // Else the next tap on Take cash would get the outcome of this waiting.
}

/** End a quick payment in cash that a person found among the transactions: it is paid. */
export async function endFound(record) {
  await inOne(["payments", "sales", "device"], async (stores) => {
    await stores.objectStore("payments").delete(record.id);
    await stores.objectStore("sales").delete(record.saleId);
    await leave(stores, record.saleId);
  });
  update({ payment: null, sale: null });
  endPause();
  go("/till", { replaces: true });
}

const running = new Map();

/** One at a time for a sale: a second call in this tab gets the outcome of the first; another tab is refused. */
function alone(saleId, action, { waits = false } = {}) {
  if (!running.has(saleId)) {
    const outcome = navigator.locks.request(`till-payment-${saleId}`, { ifAvailable: !waits }, (lock) => {
      if (!lock) throw refusal("This sale is being paid in another tab.");
      return action();
    });
    running.set(saleId, outcome.finally(() => running.delete(saleId)));
  }
  return running.get(saleId);
}

/** The sale as it is on the disk: another tab may have gone on with it. */
async function currentSale(id) {
  const stored = await read("sales", id);
  if (!stored) throw refusal("This sale was ended in another tab.");
  if (stored.locationId !== app().location.id) {
    throw refusal("This sale was begun at another location. Choose it first.");
  }
  if (stored.isFinished || stored.paid.length !== app().sale?.paid.length) {
    update({ sale: stored });
    if (!stored.isFinished) throw refusal("This sale was changed in another tab. Look at what is to pay now.");
  }
  return stored;
}

/** The sale as the shop has it, its order checked; null where an order finds that the shop is not there at all. Raises
    ApiError. */
async function askShop(sale) {
  if (sale.kind !== ORDER) return refreshSale(sale.id);
  try {
    const checked = await checkOrder();
    if (checked?.id !== sale.id) throw refusal("This sale was ended in another tab.");
    const basket = await desk().readBasket(checked.basket.id, { seconds: PROBE });
    return await changeSale({ basket }, sale.id);
  } catch (error) {
    if (error.code === "offline" || error.isUncertain) return null;
    throw error;
  }
}

async function takeOffline(sale, amount, tendered) {
  const outcome = await storeOfflineSale(sale, amount, tendered);
  openDrawer(sale);
  return outcome;
}

async function begin(sale, amount, tendered) {
  const request = { amount, tendered, currency: sale.currency };
  if (sale.kind === ORDER) request.orderId = sale.basket.id;
  else request.description = sale.description;
  const record = {
    id: crypto.randomUUID(), tender: CASH, saleId: sale.id, userId: app().user.id, locationId: sale.locationId,
    isTraining: sale.isTraining, key: crypto.randomUUID(), request, createdAt: serverNow(),
  };
  await keepPayment(record, sale);
  update({ payment: record });
  try {
    return await note(record, await desk().takeCash(request, record.key));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isUnknown(error)) return follow(record);
    await giveUp(record);
    throw error;
  }
}

/** Whether a first request may have been carried out. */
export function isUnknown(error) {
  return error.isUncertain || error.code === "idempotency_in_progress" || error.status === 408;
}

/** Whether the answer to a repeated request proves that the first one was not carried out: it came to the checks behind
    the key. A session that ended, a location that was taken away or a rate limit proves nothing. */
export function isDisproved(error) {
  if (error.code.startsWith("idempotency_")) return false;
  const isOfChecks = /^(cash|cash_movements|quick_payments|orders)_(disabled|not_)/.test(error.code);
  return [409, 422].includes(error.status) || isOfChecks;
}

/** Send the same again until it is known. */
async function follow(record, first = 1_000) {
  update({ payment: { ...record, isUncertain: true } });
  for (let wait = first; ; wait = Math.min(2 * wait || 1_000, LONGEST_PAUSE)) {
    await pause(wait);
    if (!await read("payments", record.id)) return outcomeElsewhere(record);
    const outcome = await repeat(record);
    if (outcome) return outcome;
  }
}

async function repeat(record) {
  const { phase, location, isTraining } = app();
  if (phase !== "ready" || location.id !== record.locationId || isTraining !== record.isTraining) return null;
  if (!canRepeat(record)) return null;
  try {
    return await note(record, await desk().takeCash(record.request, record.key));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!isDisproved(error)) return null;
    await giveUp(record);
    throw error;
  }
}

let endPause = () => {};

/** Until the time is over, there is a network again, or a person ends the waiting. */
function pause(milliseconds) {
  return new Promise((resolve) => {
    const end = () => { clearTimeout(timer); removeEventListener("online", end); resolve(); };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    endPause = end;
  });
}

async function outcomeElsewhere(record) {
  const sale = await read("sales", record.saleId) ?? null;
  update({ payment: null, ...(app().sale?.id === record.saleId ? { sale } : {}) });
  return { isFinished: sale?.isFinished ?? true, change: sale?.change ?? 0 };
}

/** Note what was taken with the sale in one step, then finish the sale where nothing is due. */
async function note(record, transaction) {
  const isShown = app().sale?.id === record.saleId;
  const change = transaction.changeInPence ?? 0;
  await keepPaid(record, transaction, change);
  openDrawer(record);
  try {
    return { isFinished: isShown ? await settle(record.saleId) : false, change };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { isFinished: false, change }; // The screen of the payment finishes it, and says what hinders it.
  } finally {
    update({ payment: null });
  }
}

/** Take back cash before its sale is finished; where the answer is lost, the shop is asked how the payment stands.
    Again it changes nothing. Returns the payment, which its sale has noted. Raises ApiError where it stays. */
export async function takeBack(id, reason, key) {
  const taken = await desk().voidCash(id, reason, key).catch(async (error) => {
    if (!isUnknown(error) && error.code !== "void_not_allowed") throw error;
    const found = await desk().readTransaction(id).catch(() => null);
    if (found?.status !== "CANCELLED") throw error;
    return found;
  });
  await notePayment(taken);
  return taken;
}

/** Take back cash of the sale under way. As `takeBack`. */
export async function takeBackHere(sale, { id }, reason, key) {
  await takeBack(id, reason, key);
  await refreshOrder(sale.id);
}

function refusal(sentence) { return new ApiError(0, "refused_here", sentence); }

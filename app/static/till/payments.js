// Card payments: one at a time, from its record on the disk, which is there before the shop hears of it, to its end,
// which only the shop knows. Every step can be repeated: whatever gets lost, a card is charged once.

import { ApiError } from "./api.js";
import { serverNow } from "./clock.js";
import { money } from "./money.js";
import { go, isAround } from "./navigation.js";
import { checkOrder, refreshSale } from "./order_check.js";
import { bringToEnd } from "./payment_run.js";
import { send } from "./readers/hand.js";
import { readerOf } from "./readers/readers.js";
import { due, isToBeFinished, keepPayment, loadSale, ORDER } from "./sale.js";
import { change, read, readAll, remove, write } from "./store.js";
import { app, update } from "./state.js";

/* A payment in the store `payments`: {id, tender: "CARD", saleId, userId, locationId, isTraining, key,
     orderId, amount, tip, currency, description,      // what is sent; the same whenever it is sent again
     createdAt (the shop's time), intentId, transactionId, state, declineCode, isStopped, isGivenUp}
   On the screen also {clientSecret, notice, readers, isElsewhere, isAsking}, which are kept nowhere.
   `state`: starting, reader (to be chosen), waiting, pin, processing, declined, unknown, approved. */
const NOT_KEPT = ["clientSecret", "notice", "readers", "isElsewhere", "isAsking"];
const channel = new BroadcastChannel("till-payments");

channel.addEventListener("message", async ({ data }) => {
  if (app().phase !== "ready") return;
  if (data.kind === "ended") return followEnd(data.id);
  if (data.kind === "hello" && app().payment && !app().payment.isElsewhere) return tellOthers();
  if (data.kind !== "payment" || (app().payment && !app().payment.isElsewhere)) return;
  const isNew = app().payment?.id !== data.payment.id;
  update({ payment: { ...data.payment, isElsewhere: true } });
  if (isNew) await resumePayment({ leads: !isAround() });
});

function tellOthers() { channel.postMessage({ kind: "payment", payment: kept(app().payment, ["notice"]) }); }

/** Another tab brought the payment to its end: the sale is another one now. */
async function followEnd(id) {
  if (app().payment && app().payment.id !== id) return;
  update({ payment: null });
  await loadSale();
}

function kept(payment, more = []) {
  const isKept = ([name]) => more.includes(name) || !NOT_KEPT.includes(name);
  return Object.fromEntries(Object.entries(payment).filter(isKept));
}

/** Begin to take an amount of the sale under way, and a tip, by card. Resolves once the shop has the payment, or nobody
    knows whether it has. `shown` is what the screen shows as due. Raises ApiError where it was refused: then there is
    no payment; `total_changed` names `from` and `to`. */
export async function beginCard({ amount, tip = 0, shown }) {
  if (!app().isOnline && !app().isTraining) {
    throw refusal("offline", "Cards need a network, and there is none. Take cash, or wait.");
  }
  checkSale(app().sale);
  await checkTotal(shown);
  const sale = app().sale;
  checkLimits(amount, tip, sale.currency);
  const isOrder = sale.kind === ORDER;
  const payment = {
    id: crypto.randomUUID(), tender: "CARD", saleId: sale.id, userId: app().user.id, locationId: sale.locationId,
    isTraining: sale.isTraining, key: crypto.randomUUID(), orderId: isOrder ? sale.basket.id : undefined, amount, tip,
    currency: sale.currency, description: isOrder ? undefined : sale.description, intentId: null, transactionId: null,
    createdAt: serverNow(), state: "starting",
  };
  await keepNew(payment, sale);
  update({ payment, notice: null, refusal: null });
  tellOthers();
  await new Promise((resolve, reject) => { drive(payment.id, resolve).then(resolve, reject); });
}

/** Write a new payment. Raises ApiError; where another one is open, that one is shown. */
async function keepNew(payment, sale) {
  try {
    await keepPayment(payment, sale);
  } catch (error) {
    if (error.code === "open_payment") await resumePayment();
    throw error;
  }
}

/** Refuse what cannot be paid as it is. Raises ApiError. */
function checkSale({ locationId, unresolved }) {
  if (locationId !== app().location.id) {
    throw refusal("other_location", "This sale was begun at another location. Choose it first.");
  }
  if (unresolved?.length) {
    throw refusal("unresolved_code", "A scanned code is not found yet. Find it or remove it first.");
  }
}

/** Compare what the screen shows as due with what the shop says. Raises ApiError. */
async function checkTotal(shown) {
  const sale = await checkOrder();
  const { amount } = due(await refreshSale(sale.id));
  if (shown === undefined || amount === shown) return;
  throw Object.assign(refusal("total_changed", "The total changed."), { from: shown, to: amount });
}

function checkLimits(amount, tip, currency) {
  const problem = limitProblem(amount + tip, currency, { isCard: true });
  if (problem) throw refusal("amount_out_of_limits", problem);
}

/** Why an amount cannot be taken at this till, as a sentence; null where it can, as far as the till knows. */
export function limitProblem(amount, currency, { isCard }) {
  const { maxAmountInPence, minAmountInPence } = app().configuration ?? {};
  if (maxAmountInPence !== undefined && amount > maxAmountInPence) {
    return `The most that you may take in one payment is ${money(maxAmountInPence, currency)}.`;
  }
  if (amount < 1) return "Enter an amount.";
  if (isCard && amount < minAmountInPence) {
    return `The least that a card can pay is ${money(minAmountInPence, currency)}.`;
  }
  return null;
}

function refusal(code, words) { return new ApiError(0, code, words); }

/** At the start, after unlocking, and when the app is seen again: where a card payment is not final, go on with it. The
    shop is asked first how it stands. With `leads` its screen comes before anything else. */
export async function resumePayment({ leads = true } = {}) {
  const payment = (await readAll("payments")).find((one) => one.tender === "CARD");
  if (!payment) {
    if (app().payment?.tender === "CARD") update({ payment: null });
    if (leads) goOnWithSale();
    return;
  }
  await showSaleOf(payment);
  if (app().payment?.id !== payment.id || driven !== payment.id) {
    update({ payment: { ...payment, state: "unknown", isElsewhere: driven !== payment.id } });
    drive(payment.id).catch((error) => update({ notice: error.message }));
    channel.postMessage({ kind: "hello" });
  } else send({ kind: "stop" });
  if (leads) go("/till/pay", { replaces: true });
}

/** A sale that is paid, but not finished, is finished on the payment screen. */
function goOnWithSale() {
  if (isToBeFinished(app().sale)) go("/till/pay", { replaces: true });
}

/** Make the payment's sale the one under way; loadSale parks an order that was under way instead. */
async function showSaleOf(payment) {
  if (app().sale?.id === payment.saleId || !await read("sales", payment.saleId)) return;
  await write("device", payment.saleId, "current");
  await loadSale();
}

let driven = null; // The id of the payment that this tab brings to its end, or waits to.

/** Bring a payment to its end, in one tab at a time. `hasBegun` is called once there is something to wait for. */
async function drive(id, hasBegun = () => {}) {
  if (driven === id) return;
  driven = id;
  const awake = keepAwake();
  try {
    await navigator.locks.request(`till-payment-${app().payment.saleId}`, async () => {
      const payment = await read("payments", id);
      if (!payment) return followEnd(id);
      update({ payment: { ...payment, state: payment.state === "starting" ? "starting" : "unknown" } });
      await bringToEnd({ note, forget, reader: readerOf(app().configuration), hasBegun });
    });
  } catch (error) {
    if (!(error instanceof ApiError)) console.error(error);
    throw error;
  } finally {
    driven = null;
    awake.abort();
    channel.postMessage({ kind: "ended", id });
  }
}

/** Change the payment on the disk, unless it is no longer there, then on the screen of every tab. */
async function note(changes) {
  const { id } = app().payment;
  const shown = "state" in changes ? { isAsking: false, ...changes } : changes;
  await change("payments", id, (stored) => stored && { ...stored, ...kept(changes) }, false);
  if (app().payment?.id !== id) return;
  update({ payment: { ...app().payment, ...shown } });
  tellOthers();
}

/** Remove the payment from the disk. It stays on the screen. */
async function forget() { await remove("payments", app().payment.id); }

/** Give the payment up. It is noted first, so that it is not forgotten if the app is closed before the shop answers. */
export async function cancelPayment() {
  await note({ isGivenUp: true });
  await readerOf(app().configuration).cancel(app().payment);
  send({ kind: "stop" });
}

/** Take another card for the same payment. */
export function tryAnotherCard() { send({ kind: "again" }); }

/** Wait no longer for the agent who began the payment. */
export function stopWaiting() { send({ kind: "forsake" }); }

/** Keep the screen on. */
function keepAwake() {
  const ended = new AbortController();
  let lock = null;
  const hold = async () => {
    if (document.hidden || ended.signal.aborted) return;
    lock = await navigator.wakeLock?.request("screen").catch(() => null);
    if (ended.signal.aborted) lock?.release();
  };
  ended.signal.addEventListener("abort", () => lock?.release());
  document.addEventListener("visibilitychange", hold, { signal: ended.signal });
  hold();
  return ended;
}

/** See how the payment stands; nobody is led away from what they look at. */
function lookAgain() { if (app().phase === "ready" && app().payment) resumePayment({ leads: false }); }

document.addEventListener("visibilitychange", () => { if (!document.hidden) lookAgain(); });
addEventListener("pageshow", ({ persisted }) => { if (persisted) lookAgain(); });
addEventListener("online", lookAgain);

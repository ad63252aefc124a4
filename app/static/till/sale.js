// The sale under way: an amount (quick payment) or an order. It is on the disk before anything else happens with it,
// and outlives reloads, crashes and the end of a session. Prices and totals are the shop's: what is shown before the
// shop answered is marked as not checked.

import { ApiError } from "./api.js";
import { leaveCurrent, makeCurrent, readCurrent } from "./current_sale.js";
import { desk } from "./desk.js";
import { change, read, readAll, remove, write } from "./store.js";
import { app, onUpdate, update } from "./state.js";

export const QUICK = "QUICK";
export const ORDER = "ORDER";
const WAIT = 250; // Milliseconds that changes are gathered before they are sent.
const AGAIN = 10; // Seconds until the shop is asked again after it did not answer.
const LINE = /\/lines\/(\d+)/; // In the pointer of a problem: the place of a line.
export const MOST_OF_ONE = 99; // The shop's limit for one line.

/* A sale: {id, kind, isTraining, createdAt, parkedAt, locationId, currency,
     description, amount,                       // of a quick payment
     // Of an order. `was`: the price before the shop changed it, until the agent has seen that.
     lines: [{skuCode, name, options, quantity, unitPrice, image?, was?, problem?}], unresolved: [code], discount,
     basket, isChecked,                         // the shop's answer, and whether it has the lines as they are now
     problem,                                   // why the shop refuses the order as it is, null
     paid: [PosTransaction], change,            // of the cash that was taken last
     offline,                                   // {toPay} of one that was finished without a network: offline.js
     isFinished} */

export async function loadSale() {
  const sale = await readCurrent();
  update({ sale });
  if (sale && sale.kind === ORDER && !sale.isChecked) send();
}

export async function startQuick({ amount, description }) {
  await begin({ kind: QUICK, amount, description });
}

export async function startOrder() {
  await begin({ kind: ORDER, lines: [], unresolved: [], discount: 0, basket: null, isChecked: true, problem: null });
}

async function begin(more) {
  const sale = {
    id: crypto.randomUUID(), isTraining: app().isTraining, createdAt: new Date().toISOString(), parkedAt: null,
    locationId: app().location.id, currency: app().configuration.currency, paid: [], isFinished: false, ...more,
  };
  await makeCurrent(sale);
  update({ sale });
}

/** Change the sale under way on the disk, then on the screen. */
export async function changeSale(changes) {
  const sale = { ...app().sale, ...changes };
  update({ sale });
  await write("sales", sale);
  return sale;
}

/** Set the lines of the order, and more of it at once. They are sent to the shop in the background. */
export async function setLines(lines, more = {}) {
  await changeSale({ lines, ...more, isChecked: false, problem: null });
  sendSoon();
}

/** Take an amount off the order, in minor units. The shop refuses one above the sum of the goods. */
export async function setDiscount(discount) {
  await changeSale({ discount, isChecked: false, problem: null });
  sendSoon();
}

/** Note that the agent has seen the prices that changed. */
export async function acceptPrices() {
  await changeSale({ lines: app().sale.lines.map((line) => ({ ...line, was: undefined })) });
}

/** Add one of what is sold under a SKU, or more. `code` is the unresolved one that it stands for. */
export async function addLine({ skuCode, name, options, unitPrice, image }, quantity = 1, code = null) {
  const { lines, unresolved } = app().sale;
  const more = code ? { unresolved: without(unresolved, code) } : {};
  const known = lines.find((line) => line.skuCode === skuCode);
  if (known) return setLines(withQuantity(lines, skuCode, known.quantity + quantity), more);
  return setLines([...lines, { skuCode, name, options: options ?? {}, quantity, unitPrice, image }], more);
}

/** Set how many of a line are wanted; none removes it. */
export async function setQuantity(skuCode, quantity) {
  const lines = app().sale.lines;
  if (quantity < 1) return setLines(lines.filter((line) => line.skuCode !== skuCode));
  return setLines(withQuantity(lines, skuCode, quantity));
}

function withQuantity(lines, skuCode, wanted) {
  const quantity = Math.min(wanted, MOST_OF_ONE);
  return lines.map((line) => (line.skuCode === skuCode ? { ...line, quantity, problem: undefined } : line));
}

/** Note a code that was scanned, until it is known what it stands for: nothing that was scanned is left unpaid. */
export async function addUnresolved(code) {
  await changeSale({ unresolved: [...app().sale.unresolved, code] });
}

export async function dropUnresolved(code) {
  await changeSale({ unresolved: without(app().sale.unresolved, code) });
}

function without(codes, code) {
  const place = codes.indexOf(code);
  return codes.filter((_, index) => index !== place);
}

let timer = null;
let sending = null;

function sendSoon(wait = WAIT) {
  clearTimeout(timer);
  timer = setTimeout(send, wait);
}

let wasOnline = app().isOnline;
onUpdate(({ isOnline, sale }) => {
  if (isOnline && !wasOnline && sale?.kind === ORDER && !sale.isChecked) sendSoon();
  wasOnline = isOnline;
});

/** Have the shop check the order now; resolves once it has the lines as they are. Raises ApiError. */
export async function checkOrder() {
  if (app().sale?.kind !== ORDER) return app().sale;
  clearTimeout(timer);
  do {
    await (sending ?? Promise.resolve()).catch(() => {});
    if (app().sale && !app().sale.isChecked) await send(true);
  } while (app().sale && !app().sale.isChecked);
  return app().sale;
}

async function send(raises = false) {
  if (sending) {
    await sending.catch(() => {});
    if (!app().sale || app().sale.isChecked) return;
  }
  sending = exchange();
  try {
    await sending;
  } catch (error) {
    if (raises || !(error instanceof ApiError)) throw error;
    if (error.isUncertain || error.status === 429) sendSoon(1_000 * (error.retryAfter ?? AGAIN));
  } finally {
    sending = null;
  }
}

async function exchange() {
  const sale = app().sale;
  if (!sale || sale.kind !== ORDER) return;
  if (!sale.basket && !sale.lines.length) {
    await changeSale({ isChecked: true });
    return;
  }
  let basket;
  try {
    basket = await exchangeLines(sale);
  } catch (error) {
    if (error instanceof ApiError && app().sale?.lines === sale.lines) await noteRefusal(error);
    throw error;
  }
  if (app().sale?.id !== sale.id) return;
  const isChecked = app().sale.lines === sale.lines && app().sale.discount === sale.discount;
  const lines = isChecked ? linesOf(basket, sale.lines) : app().sale.lines;
  await changeSale({ basket, isChecked, lines, problem: null });
  if (!isChecked) sendSoon();
}

async function exchangeLines({ basket, lines, discount }) {
  const wanted = lines.map(({ skuCode, quantity }) => ({ skuCode, quantity }));
  if (!basket) return desk().createBasket(wanted, discount);
  try {
    return await desk().updateBasket(basket.id, wanted, basket.revision, discount);
  } catch (error) {
    if (error.code === "stale_revision") {
      return desk().updateBasket(basket.id, wanted, error.problem.currentRevision, discount);
    }
    if (error.code === "basket_not_found") return desk().createBasket(wanted, discount);
    throw error;
  }
}

/** The lines as the shop has them; what only the till knows of them stays. */
function linesOf(basket, before) {
  const known = new Map(before.map((line) => [line.skuCode, line]));
  return basket.lines.map(({ skuCode, name, options, quantity, unitPrice }) => {
    const line = known.get(skuCode);
    const was = line && (line.was ?? line.unitPrice);
    const changed = was === unitPrice ? undefined : was;
    return { skuCode, name, options, quantity, unitPrice, image: line?.image, was: changed };
  });
}

/** Note why the shop refuses the order as it is: at its lines, or of the whole. */
async function noteRefusal(error) {
  const ofLines = (error.problem.errors ?? []).filter((one) => LINE.test(one.pointer ?? ""));
  if (ofLines.length) await markLines(ofLines);
  else if (error.status >= 400 && error.status < 500 && ![401, 408, 429].includes(error.status)) {
    await changeSale({ problem: error.message });
  }
}

async function markLines(errors) {
  const problems = new Map(errors.map((one) => [Number(LINE.exec(one.pointer)[1]), one.message]));
  const lines = app().sale.lines.map((line, place) => ({ ...line, problem: problems.get(place) }));
  await changeSale({ lines });
}

/** What is to be paid: `{amount, isChecked}`, of an order what is still due. */
export function due(sale) {
  if (sale.kind === QUICK) {
    return { amount: sale.amount - sale.paid.reduce((sum, one) => sum + one.amountInPence, 0), isChecked: true };
  }
  if (sale.basket && sale.isChecked) return { amount: sale.basket.amountDue, isChecked: true };
  return { amount: sale.lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0), isChecked: false };
}

/** Whether all is paid, or a payment made that the shop's answer does not have yet: `settle(null)` goes on from there.
    */
export function isToBeFinished(sale) {
  if (!sale?.paid.length || sale.isFinished) return false;
  const counted = sale.basket?.payments.map((one) => one.id) ?? [];
  return due(sale).amount <= 0 || (sale.kind === ORDER && sale.paid.some((one) => !counted.includes(one.id)));
}

/** Read the order anew from the shop, before it is paid and after a payment. Raises ApiError. */
export async function refreshOrder() {
  const sale = app().sale;
  if (sale?.kind !== ORDER || !sale.basket) return;
  const basket = await desk().readBasket(sale.basket.id);
  if (app().sale?.id === sale.id) await changeSale({ basket });
}

/** Note a payment that was made, and finish the sale once nothing is due. Returns whether it is finished. Doing so
    again for the same payment changes nothing. Raises ApiError where an order cannot be submitted now; it is tried
    again by `settle(null)`, as at every start. */
export async function settle(transaction) {
  let sale = app().sale;
  if (transaction && !sale.paid.some((one) => one.id === transaction.id)) {
    sale = await changeSale({ paid: [...sale.paid, transaction] });
  }
  if (sale.kind === ORDER) {
    await refreshOrder();
    sale = app().sale;
    if (sale.basket.amountDue > 0) return false;
    if (sale.basket.status === "OPEN") await desk().submitBasket(sale.basket.id);
    await refreshOrder();
  } else if (due(sale).amount > 0) return false;
  await changeSale({ isFinished: true });
  return true;
}

/** Leave a sale, the one on the screen by default: a finished one, or one without anything paid. */
export async function endSale(id = app().sale?.id) {
  if (!id) return;
  await leaveCurrent(id);
  if (app().sale?.id === id) update({ sale: null });
}

export async function park(label) {
  const sale = { ...app().sale, parkedAt: new Date().toISOString(), label };
  await leaveCurrent(sale.id, sale);
  update({ sale: null });
}

/** The parked orders, the latest first; those of training only while training. */
export async function parkedSales() {
  const sales = (await readAll("sales")).filter((sale) => sale.parkedAt && sale.isTraining === app().isTraining);
  return sales.sort((a, b) => b.parkedAt.localeCompare(a.parkedAt));
}

/** Give a parked order another label. */
export async function labelParked(id, label) {
  await change("sales", id, (sale) => sale && { ...sale, label }, false);
}

/** Go on with a parked order; its prices and stock are checked by the shop again. Returns false where it is gone:
    another tab went on with it, or discarded it. Raises ApiError where another tab has a sale under way. */
export async function resume(id) {
  const parked = await read("sales", id);
  if (!parked?.parkedAt) return false;
  const here = { locationId: app().location.id, currency: app().configuration.currency };
  // A basket belongs to its location: elsewhere the order becomes a new one.
  const elsewhere = parked.locationId === here.locationId ? {} : { ...here, basket: null };
  const sale = { ...parked, ...elsewhere, parkedAt: null, isChecked: false };
  await makeCurrent(sale);
  update({ sale });
  send();
  return true;
}

export async function discardParked(id) { await remove("sales", id); }

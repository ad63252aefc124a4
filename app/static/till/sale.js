// The sale under way: an amount (quick payment) or an order. It is on the disk before anything else happens with it, and
// outlives reloads, crashes and the end of a session. Prices and totals are the shop's: what is shown before the shop
// answered is marked as not checked.

import { ApiError } from "./api.js";
import { desk } from "./desk.js";
import { read, readAll, remove, write, writeTogether } from "./store.js";
import { app, update } from "./state.js";

export const QUICK = "QUICK";
export const ORDER = "ORDER";
const CURRENT = "current"; // In the store `device`: the id of the sale under way.
const WAIT = 250; // Milliseconds that changes are gathered before they are sent.

/* A sale: {id, kind, isTraining, createdAt, parkedAt, locationId, currency,
     description, amount,                       // of a quick payment
     lines: [{skuCode, name, options, quantity, unitPrice, problem?}], unresolved: [code],   // of an order
     basket, isChecked,                         // the shop's answer, and whether it has the lines as they are now
     paid: [PosTransaction], isFinished} */

export async function loadSale() {
  const id = await read("device", CURRENT);
  const sale = id ? await read("sales", id) : null;
  update({ sale: sale ?? null });
  if (sale && sale.kind === ORDER && !sale.isChecked) send();
}

export async function startQuick({ amount, description }) {
  await begin({ kind: QUICK, amount, description });
}

export async function startOrder() {
  await begin({ kind: ORDER, lines: [], unresolved: [], basket: null, isChecked: true });
}

async function begin(more) {
  const sale = {
    id: crypto.randomUUID(), isTraining: app().isTraining, createdAt: new Date().toISOString(), parkedAt: null,
    locationId: app().location.id, currency: app().configuration.currency, paid: [], isFinished: false, ...more,
  };
  await writeTogether([["sales", sale], ["device", sale.id, CURRENT]]);
  update({ sale });
}

/** Change the sale under way on the disk, then on the screen. */
export async function changeSale(changes) {
  const sale = { ...app().sale, ...changes };
  update({ sale });
  await write("sales", sale);
  return sale;
}

/** Set the lines of the order. They are sent to the shop in the background. */
export async function setLines(lines) {
  await changeSale({ lines, isChecked: false });
  sendSoon();
}

/** Add one of what is sold under a SKU, or more. */
export async function addLine({ skuCode, name, options, unitPrice }, quantity = 1) {
  const lines = app().sale.lines;
  const known = lines.find((line) => line.skuCode === skuCode);
  if (known) return setQuantity(skuCode, known.quantity + quantity);
  return setLines([...lines, { skuCode, name, options: options ?? {}, quantity, unitPrice }]);
}

export async function setQuantity(skuCode, quantity) {
  const lines = app().sale.lines;
  if (quantity < 1) return setLines(lines.filter((line) => line.skuCode !== skuCode));
  return setLines(lines.map((line) => (line.skuCode === skuCode ? { ...line, quantity, problem: undefined } : line)));
}

let timer = null;
let sending = null;

function sendSoon() {
  clearTimeout(timer);
  timer = setTimeout(send, WAIT);
}

/** Have the shop check the order now; resolves once it has the lines as they are. Raises ApiError. */
export async function checkOrder() {
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
  } finally {
    sending = null;
  }
}

async function exchange() {
  const sale = app().sale;
  if (!sale || sale.kind !== ORDER) return;
  const wanted = sale.lines.map(({ skuCode, quantity }) => ({ skuCode, quantity }));
  let basket;
  try {
    basket = await exchangeLines(sale, wanted);
  } catch (error) {
    if (error instanceof ApiError && error.problem.errors && app().sale?.id === sale.id) await markLines(error.problem.errors);
    throw error;
  }
  if (app().sale?.id !== sale.id) return;
  const isChecked = app().sale.lines === sale.lines;
  await changeSale({ basket, isChecked, ...(isChecked ? { lines: linesOf(basket, sale.lines) } : {}) });
  if (!isChecked) sendSoon();
}

async function exchangeLines(sale, wanted) {
  if (!sale.basket) return desk().createBasket(wanted);
  try {
    return await desk().updateBasket(sale.basket.id, wanted, sale.basket.revision);
  } catch (error) {
    if (error.code === "stale_revision") {
      return desk().updateBasket(sale.basket.id, wanted, error.problem.currentRevision);
    }
    if (error.code === "basket_not_found") return desk().createBasket(wanted);
    throw error;
  }
}

function linesOf(basket, before) {
  const pictures = new Map(before.map((line) => [line.skuCode, line.image]));
  return basket.lines.map(({ skuCode, name, options, quantity, unitPrice }) =>
    ({ skuCode, name, options, quantity, unitPrice, image: pictures.get(skuCode) }));
}

async function markLines(errors) {
  const problems = new Map(errors.map((one) => [Number(/\/lines\/(\d+)/.exec(one.pointer ?? "")?.[1] ?? -1), one.message]));
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

/** Whether all is paid, or a payment made that the shop's answer does not have yet: `settle(null)` goes on from there. */
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

/** Note a payment that was made, and finish the sale once nothing is due. Returns whether it is finished. Doing so again
    for the same payment changes nothing. Raises ApiError where an order cannot be submitted now; it is tried again by
    `settle(null)`, as at every start. */
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

/** Leave the sale: a finished one, or one without anything paid. */
export async function endSale() {
  const sale = app().sale;
  if (!sale) return;
  await writeTogether([["sales", undefined, sale.id], ["device", undefined, CURRENT]]);
  update({ sale: null });
}

export async function park(label) {
  const sale = { ...app().sale, parkedAt: new Date().toISOString(), label };
  await writeTogether([["sales", sale], ["device", undefined, CURRENT]]);
  update({ sale: null });
}

/** The parked orders, the latest first. */
export async function parkedSales() {
  const sales = await readAll("sales");
  return sales.filter((sale) => sale.parkedAt && Boolean(sale.isTraining) === app().isTraining)
    .sort((a, b) => b.parkedAt.localeCompare(a.parkedAt));
}

/** Go on with a parked order; its prices and stock are checked by the shop again. */
export async function resume(id) {
  const sale = { ...(await read("sales", id)), parkedAt: null, isChecked: false };
  await writeTogether([["sales", sale], ["device", id, CURRENT]]);
  update({ sale });
  send();
}

export async function discardParked(id) { await remove("sales", id); }

// The order and the shop: its contents are sent, checked and priced, in one tab at a time; it is read anew, and handed
// in once it is paid.

import { ApiError } from "./api.js";
import { desk } from "./desk.js";
import { changeSale, due, endSale, keptOf, notePayment, ORDER, refusal, showCurrent } from "./sale.js";
import { read } from "./store.js";
import { app, onUpdate } from "./state.js";

const WAIT = 250; // Milliseconds that changes are gathered before they are sent.
const AGAIN = 10; // Seconds until the shop is asked again after it did not answer.
const PROBE = 6; // Seconds for a look at the shop before an order is thrown away.
const LINE = /\/lines\/(\d+)/; // In the pointer of a problem: the place of a line.
const FIXED = ["basket_locked", "basket_submitted"]; // The shop's codes for an order that can no longer be changed.
const TAKEN_OVER = "This order is being paid, so its contents are again those that the shop has.";

let timer = null;

/** Have the shop check the order, once no further change came for a moment. */
export function sendSoon(wait = WAIT) {
  clearTimeout(timer);
  timer = setTimeout(send, wait);
}

let before = app();
onUpdate((now) => {
  const isDue = ({ phase, sale, isOnline }) => phase === "ready" && isOnline && isUnchecked(sale);
  const wasDue = isDue(before) && before.sale.id === now.sale?.id;
  before = now;
  if (isDue(now) && !wasDue) sendSoon();
});

function isUnchecked(sale) { return sale?.kind === ORDER && !sale.isChecked && !sale.isFinished; }

/** Have the shop check the order now; resolves once it has the lines as they are. Raises ApiError. */
export async function checkOrder() {
  const sale = app().sale;
  if (sale?.kind !== ORDER) return sale;
  clearTimeout(timer);
  while (app().sale?.id === sale.id && isUnchecked(app().sale)) await exchange(sale.id);
  if (app().sale?.id !== sale.id) throw gone();
  return app().sale;
}

function gone() { return refusal("sale_changed", "This sale was ended in another tab."); }

async function send() {
  if (!isUnchecked(app().sale)) return;
  try {
    await exchange(app().sale.id);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.isUncertain || error.status === 429) sendSoon(1_000 * (error.retryAfter ?? AGAIN));
  }
}

/** Send what is stored of an order, unless the shop has it: one exchange at a time, also of several tabs, so that an
    order has one basket. Raises ApiError. */
async function exchange(id) {
  await navigator.locks.request(`till-order-${id}`, async () => {
    const sale = await read("sales", id);
    if (!isUnchecked(sale)) return showCurrent();
    if (!sale.basket && !sale.lines.length) return changeSale({ isChecked: true }, id);
    const basket = await exchangeLines(sale).catch((error) => follow(sale, error));
    const after = await changeSale((stored) => {
      const isChecked = contentsOf(stored) === contentsOf(sale);
      return { basket, isChecked, lines: isChecked ? linesOf(basket, stored.lines) : stored.lines, problem: null };
    }, id);
    if (!after.isChecked) sendSoon();
  });
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

/** What a refusal leads to: the shop's basket where that can no longer be changed, and holds what was sent. Raises the
    ApiError. */
async function follow(sale, error) {
  if (FIXED.includes(error.code)) return takeOver(sale, error);
  if (error instanceof ApiError) await noteRefusal(sale, error);
  throw error;
}

/** Take over what the shop has of an order that is being paid. Raises ApiError where it is not what was sent. */
async function takeOver(sale, error) {
  const basket = await desk().readBasket(sale.basket.id);
  const isSame = contentsOf(basket) === contentsOf(sale);
  await changeSale(({ lines, paid }) => ({
    basket, lines: linesOf(basket, lines), discount: basket.discount, paid: paidOf(basket, paid), isChecked: true,
    problem: isSame ? null : TAKEN_OVER,
  }), sale.id);
  if (!isSame) throw refusal(error.code, TAKEN_OVER);
  return basket;
}

/** What the shop has to know of an order, as text. */
function contentsOf({ lines, discount }) {
  return JSON.stringify([lines.map(({ skuCode, quantity }) => `${skuCode} ${quantity}`).sort(), discount]);
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

/** The payments that count as the shop has them; one that it did not name yet stays. */
function paidOf({ payments }, paid) {
  const known = new Map(paid.map((one) => [one.id, one]));
  const named = new Set(payments.map((one) => one.id));
  const counted = payments.map((one) => ({ ...known.get(one.id), ...one })).filter(keptOf);
  return [...counted, ...paid.filter((one) => !named.has(one.id))];
}

/** Whether the shop refuses something as it is: asking again changes nothing. */
export function isLastWord({ status }) { return status >= 400 && status < 500 && ![401, 408, 429].includes(status); }

/** Note why the shop refuses the order as it is: at its lines, or of the whole. */
async function noteRefusal(sale, error) {
  const ofLines = (error.problem.errors ?? []).filter((one) => LINE.test(one.pointer ?? ""));
  const problems = new Map(ofLines.map((one) => [Number(LINE.exec(one.pointer)[1]), one.message]));
  await changeSale((stored) => {
    if (contentsOf(stored) !== contentsOf(sale)) return {};
    if (!ofLines.length) return isLastWord(error) ? { problem: error.message } : {};
    return { lines: stored.lines.map((line, place) => ({ ...line, problem: problems.get(place) })) };
  }, sale.id);
}

/** Read an order anew from the shop, before it is paid and after a payment. Returns the sale. Raises ApiError. */
export async function refreshOrder(id, options = {}) {
  const sale = await read("sales", id);
  if (sale?.kind !== ORDER || !sale.basket) return sale;
  const basket = await desk().readBasket(sale.basket.id, options);
  return changeSale(({ paid }) => ({ basket, paid: paidOf(basket, paid) }), id);
}

/** Read a sale anew from the shop: an order, or the cash of a quick payment, which may have been taken back. Returns
    the sale. Raises ApiError. */
export async function refreshSale(id) {
  const sale = await read("sales", id);
  if (!sale) throw gone();
  if (sale.kind === ORDER) return refreshOrder(id);
  for (const { id: paid } of sale.paid.filter(({ tenderType }) => tenderType === "CASH")) {
    await notePayment(await desk().readTransaction(paid));
  }
  return read("sales", id);
}

/** Throw an order away. `mayGo` as of endSale. Raises ApiError where something of it is paid or being paid; the shop is
    asked, if it is there. */
export async function discardOrder(id, mayGo) {
  await refreshOrder(id, { seconds: PROBE }).catch((error) => { if (!(error instanceof ApiError)) throw error; });
  return endSale(id, mayGo);
}

/** Finish a sale once nothing of it is due. Returns whether it is finished. Doing so again changes nothing. Raises
    ApiError where an order cannot be submitted now; it is tried again, as at every start. */
export async function settle(id) {
  const sale = await read("sales", id);
  if (!sale) throw gone();
  if (sale.isFinished) {
    await showCurrent();
    return true;
  }
  if (sale.kind === ORDER) return submitPaid(id);
  if (sale.paid.length > 1) await refreshSale(id); // A part may have been taken back since, and the answer lost.
  return (await changeSale((stored) => ({ isFinished: due(stored).amount <= 0 }), id)).isFinished;
}

async function submitPaid(id) {
  const { basket } = await refreshOrder(id);
  if (basket.amountDue > 0) return false;
  if (basket.status === "OPEN") {
    await desk().submitBasket(basket.id);
    await refreshOrder(id);
  }
  await changeSale({ isFinished: true }, id);
  return true;
}

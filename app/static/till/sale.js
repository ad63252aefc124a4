// The sale under way: an amount (quick payment) or an order. It is on the disk before anything else happens with it,
// and outlives reloads, crashes and the end of a session. Every tab shows the same one: what is stored counts, never
// what a tab remembers. Prices and totals are the shop's: what is shown before the shop answered is marked as not
// checked.

import { ApiError } from "./api.js";
import { change, inOne, onSalesElsewhere, read, readAll } from "./store.js";
import { app, update } from "./state.js";

export const QUICK = "QUICK";
export const ORDER = "ORDER";
const CURRENT = "current"; // In the store `device`: the id of the sale under way.
const KEEPS = ["SUCCEEDED", "PARTIALLY_REFUNDED"]; // The statuses of payments whose money was kept.
const PAID_IN_PART = "A part of this sale is paid or being paid. Finish it, or give the money back first.";
const OPEN = ["PENDING", "PROCESSING", "AUTHORIZED", "UNKNOWN"];

/* A sale: {id, kind, isTraining, createdAt, parkedAt, locationId, currency,
     description, amount,                       // of a quick payment
     // Of an order. `was`: the price before the shop changed it, until the agent has seen that.
     lines: [{skuCode, name, options, quantity, unitPrice, image?, was?, problem?}], unresolved: [code], discount,
     basket, isChecked,                         // the shop's answer, and whether it has the lines as they are now
     problem,                                   // why the shop refuses the order as it is, null
     paid: [PosTransaction], change,            // of which money was kept; of the cash that was taken last
     offline,                                   // {toPay} of one that was finished without a network: offline.js
     isFinished} */

onSalesElsewhere(() => { if (app().phase === "ready") showCurrent(); });

/** Show the sale under way. Sales that nothing leads to any more are parked, or removed where nothing is in them. */
export async function loadSale() {
  await inOne(["sales", "device", "payments"], async (stores) => {
    const sales = stores.objectStore("sales");
    const current = await stores.objectStore("device").get(CURRENT);
    const reached = [current, ...(await stores.objectStore("payments").getAll()).map(({ saleId }) => saleId)];
    for (const sale of await sales.getAll()) {
      if (sale.parkedAt || reached.includes(sale.id)) continue;
      if (sale.isFinished || isEmpty(sale)) await sales.delete(sale.id);
      else await sales.put({ ...sale, parkedAt: new Date().toISOString() });
    }
  });
  await showCurrent();
}

/** Show the sale under way as it is stored. */
export async function showCurrent() {
  const id = await read("device", CURRENT);
  const sale = id ? await read("sales", id) : null;
  update({ sale: sale ?? null });
}

export async function startQuick({ amount, description }) {
  return begin({ kind: QUICK, amount, description });
}

export async function startOrder() {
  return begin({ kind: ORDER, lines: [], unresolved: [], discount: 0, basket: null, isChecked: true, problem: null });
}

/** Begin a sale. Raises ApiError where one is under way already, in this tab or another: that one is shown then. */
async function begin(more) {
  const sale = {
    id: crypto.randomUUID(), isTraining: app().isTraining, createdAt: new Date().toISOString(), parkedAt: null,
    locationId: app().location.id, currency: app().configuration.currency, paid: [], isFinished: false, ...more,
  };
  await putInPlace(() => sale);
  return sale;
}

/** Make a sale the one under way: `sale` gets the store of sales, and returns it. Raises ApiError where another is. */
export async function putInPlace(sale) {
  try {
    const placed = await inOne(["sales", "device"], async (stores) => {
      const [sales, device] = [stores.objectStore("sales"), stores.objectStore("device")];
      const current = await device.get(CURRENT);
      if (current && await sales.get(current)) {
        throw refusal("sale_under_way", "Another tab has a sale under way. Finish that one first.");
      }
      const wanted = await sale(sales);
      await sales.put(wanted);
      await device.put(wanted.id, CURRENT);
      return wanted;
    });
    update({ sale: placed });
  } catch (error) {
    if (error.code === "sale_under_way") await showCurrent();
    throw error;
  }
}

/** Change a sale on the disk, then on the screen where it is the one under way. `changes` is what is new of it, or a
    function that makes that of the stored one. Returns the sale. Raises ApiError where it is gone or finished. */
export async function changeSale(changes, id) {
  try {
    const sale = await change("sales", id ?? "", (stored) => {
      if (!stored || stored.isFinished) throw refusal("sale_changed", "This sale was ended in another tab.");
      return { ...stored, ...(typeof changes === "function" ? changes(stored) : changes) };
    }, false);
    if (app().sale?.id === id) update({ sale });
    return sale;
  } catch (error) {
    if (error instanceof ApiError) await showCurrent();
    throw error;
  }
}

/** Remove a sale: a finished one, or one without anything paid. `mayGo` has the last word on the stored one. Returns
    whether it is gone. Raises ApiError where a payment of it is made or under way. */
export async function endSale(id, mayGo = () => true) {
  const isGone = await inOne(["sales", "device", "payments"], async (stores) => {
    const sale = await stores.objectStore("sales").get(id);
    if (sale && !mayGo(sale)) return false;
    await refuseWhilePaying(stores, id);
    if (sale && !sale.isFinished && isPaidInPart(sale)) {
      throw refusal("paid_in_part", PAID_IN_PART);
    }
    await stores.objectStore("sales").delete(id);
    await leave(stores, id);
    return true;
  });
  if (isGone && app().sale?.id === id) update({ sale: null });
  return isGone;
}

/** Within a transaction: raise ApiError while a payment of the sale is not final. */
export async function refuseWhilePaying(stores, id) {
  const payments = await stores.objectStore("payments").getAll();
  if (!payments.some(({ saleId }) => saleId === id)) return;
  throw refusal("open_payment", "A payment of this sale is not final yet. Wait until it is.");
}

/** Do something with a sale while it may be paid, in one transaction: `work` gets the stores, among them `more`, and
    the stored sale. Raises ApiError where another tab was first with a payment or with this sale, which is shown then
    as it stands. */
export async function whilePayable(sale, more, work) {
  try {
    return await inOne(["sales", "payments", ...more], async (stores) => {
      if (await stores.objectStore("payments").count()) {
        throw refusal("open_payment", "A payment is not final yet. Wait until it is.");
      }
      const stored = await stores.objectStore("sales").get(sale.id);
      if (!stored || stored.isFinished || stored.parkedAt || stored.paid.length !== sale.paid.length) {
        throw refusal("sale_changed", "This sale was changed in another tab. Look at what is to pay now.");
      }
      return work(stores, stored);
    });
  } catch (error) {
    if (error.code === "sale_changed") await showCurrent();
    throw error;
  }
}

/** Write the record of a payment that begins for a sale. Raises ApiError as `whilePayable`. */
export async function keepPayment(record, sale) {
  await whilePayable(sale, [], (stores) => stores.objectStore("payments").put(record));
}

/** Note a payment that was made with its sale and forget its record, in one step; a payment that is noted already
    changes nothing. `change` was given back. Returns the sale, undefined where it is not on this device. */
export async function keepPaid({ id, saleId }, transaction, change) {
  const sale = await inOne(["sales", "payments"], async (stores) => {
    await stores.objectStore("payments").delete(id);
    const stored = await stores.objectStore("sales").get(saleId);
    if (!stored || stored.paid.some((one) => one.id === transaction.id)) return stored;
    const noted = { ...stored, paid: [...stored.paid, transaction], change };
    await stores.objectStore("sales").put(noted);
    return noted;
  });
  if (app().sale?.id === saleId) update({ sale: sale ?? null });
  return sale;
}

/** Within a transaction: the sale is no longer the one under way, if it was. */
export async function leave(stores, id) {
  const device = stores.objectStore("device");
  if (await device.get(CURRENT) === id) await device.delete(CURRENT);
}

/** Note how a payment stands now with the sale that it pays for: what was taken back or refunded is due again. */
export async function notePayment(transaction) {
  const isOfIt = (one) => one.id === transaction.id;
  const sales = (await readAll("sales")).filter((sale) => !sale.isFinished && sale.paid.some(isOfIt));
  for (const { id } of sales) {
    await changeSale(({ kind, paid, isChecked }) => {
      const after = paid.map((one) => (isOfIt(one) ? { ...one, ...transaction } : one)).filter(keptOf);
      if (amountKept(after) === amountKept(paid)) return {};
      return { paid: after, change: 0, isChecked: kind === ORDER ? false : isChecked };
    }, id).catch((error) => { if (error.code !== "sale_changed") throw error; }); // Ended at this moment.
  }
}

/** What a payment still pays of its sale, in minor units: its tip is given back last. */
export function keptOf({ status, amountInPence, refundedAmount }) {
  return KEEPS.includes(status) ? Math.max(0, amountInPence - (refundedAmount ?? 0)) : 0;
}

function amountKept(payments) { return payments.reduce((sum, one) => sum + keptOf(one), 0); }

/** Whether money was taken for the sale, or may be at this moment, as far as this device knows. */
export function isPaidInPart({ paid, basket }) {
  if (paid.length || basket?.amountPaid > 0) return true;
  return Boolean(basket?.payments.some(({ status }) => OPEN.includes(status)));
}

/** Whether there is nothing in a sale that anybody would miss. */
export function isEmpty(sale) {
  if (isPaidInPart(sale)) return false;
  return sale.kind === QUICK || (!sale.lines.length && !sale.unresolved.length);
}

/** The sum of the lines by the prices that were shown, in minor units. */
export function sumOfLines({ lines }) { return lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0); }

/** The total by the prices that were shown, less the discount: what the shop has not checked yet. */
export function shownTotal(sale) { return Math.max(0, sumOfLines(sale) - (sale.discount ?? 0)); }

/** What is to be paid: `{amount, isChecked}`, of an order what is still due. */
export function due(sale) {
  if (sale.kind === QUICK) return { amount: sale.amount - amountKept(sale.paid), isChecked: true };
  if (sale.basket && sale.isChecked) return { amount: sale.basket.amountDue, isChecked: true };
  return { amount: shownTotal(sale) - amountKept(sale.paid), isChecked: false };
}

/** Whether all is paid, or a payment made that the shop's answer does not have yet: `settle` goes on from there. */
export function isToBeFinished(sale) {
  if (!sale?.paid.length || sale.isFinished) return false;
  const counted = sale.basket?.payments.map((one) => one.id) ?? [];
  return due(sale).amount <= 0 || (sale.kind === ORDER && sale.paid.some((one) => !counted.includes(one.id)));
}

export function refusal(code, sentence) { return new ApiError(0, code, sentence); }

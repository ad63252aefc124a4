// What is in the order under way. Each change is made of what is stored, so that presses that follow each other fast,
// and those of another tab, all count. The shop hears of it in the background.

import { sendSoon } from "./order_check.js";
import { changeSale, refusal } from "./sale.js";
import { app } from "./state.js";

export const MOST_OF_ONE = 99; // The shop's limit for one line.

/** Change the order under way: `changes` makes what is new of the stored one. */
function changeOrder(changes) { return changeSale(changes, app().sale?.id); }

/** Change what the shop knows of the order. */
async function changeContents(changes) {
  await changeOrder((sale) => ({ ...changes(open(sale)), isChecked: false, problem: null }));
  sendSoon();
}

/** Raises ApiError where the contents stay as they are. */
function open(sale) {
  if (sale.paid.length) throw refusal("sale_changed", "A part of this order is paid, so it stays as it is.");
  if (sale.parkedAt) throw refusal("sale_changed", "This order was parked in another tab.");
  return sale;
}

/** Take an amount off the order, in minor units. The shop refuses one above the sum of the goods. */
export async function setDiscount(discount) { await changeContents(() => ({ discount })); }

/** Note that the agent has seen the prices that changed. */
export async function acceptPrices() {
  await changeOrder(({ lines }) => ({ lines: lines.map((line) => ({ ...line, was: undefined })) }));
}

/** Add one of what is sold under a SKU, or more. `code` is the unresolved one that it stands for. */
export async function addLine({ skuCode, name, options, unitPrice, image }, quantity = 1, code = null) {
  await changeContents(({ lines, unresolved }) => {
    const isKnown = lines.some((line) => line.skuCode === skuCode);
    const added = { skuCode, name, options: options ?? {}, quantity, unitPrice, image };
    return {
      lines: isKnown ? withQuantity(lines, skuCode, (before) => before + quantity) : [...lines, added],
      unresolved: code ? without(unresolved, code) : unresolved,
    };
  });
}

/** Set how many of a line are wanted; none removes it. */
export async function setQuantity(skuCode, quantity) {
  await changeContents(({ lines }) => {
    if (quantity < 1) return { lines: lines.filter((line) => line.skuCode !== skuCode) };
    return { lines: withQuantity(lines, skuCode, () => quantity) };
  });
}

/** Want more or fewer of a line, one at least. */
export async function stepQuantity(skuCode, by) {
  await changeContents(({ lines }) => ({ lines: withQuantity(lines, skuCode, (before) => Math.max(1, before + by)) }));
}

function withQuantity(lines, skuCode, quantityAfter) {
  return lines.map((line) => {
    if (line.skuCode !== skuCode) return line;
    return { ...line, quantity: Math.min(quantityAfter(line.quantity), MOST_OF_ONE), problem: undefined };
  });
}

/** Note a code that was scanned, until it is known what it stands for: nothing that was scanned is left unpaid. */
export async function addUnresolved(code) {
  await changeOrder((sale) => ({ unresolved: [...open(sale).unresolved, code] }));
}

export async function dropUnresolved(code) {
  await changeOrder(({ unresolved }) => ({ unresolved: without(unresolved, code) }));
}

function without(codes, code) {
  const place = codes.indexOf(code);
  return codes.filter((_, index) => index !== place);
}

// Products and scanned codes on their way into the order. A code is an entry of the order from the moment it is
// scanned, and stays one until it is known what it stands for.

import { findCode } from "./catalogue.js";
import { addLine, addUnresolved } from "./order_lines.js";
import { startOrder } from "./sale.js";
import { app } from "./state.js";

let before = Promise.resolve();

/** Change the order after the changes that were begun before: the first of them may have to begin the order. */
function inTurn(change) {
  const done = before.then(async () => {
    if (!app().sale) await startOrder();
    return change();
  });
  before = done.catch(() => {});
  return done;
}

/** Add a product, or one of its variants, to the order. `code` is the unresolved one that it stands for. */
export function addProduct(product, variant = null, quantity = 1, code = null) {
  const { skuCode, price } = variant ?? product;
  const line = {
    skuCode,
    name: product.name,
    options: variant?.options ?? {},
    unitPrice: price,
    image: variant?.image ?? product.image,
  };
  return inTurn(() => addLine(line, quantity, code));
}

/** Note a code that was scanned. */
export function noteCode(code) { return inTurn(() => addUnresolved(code)); }

/** Add what a noted code stands for. Returns what came of it: `{kind, product?}`; kind: "added", "choose" (a variant of
    the product), "nothing" (the shop sells nothing under it). Raises ApiError where nobody knows now. */
export async function resolveCode(code) {
  const found = await findCode(code);
  if (!found) return { kind: "nothing" };
  const { product, variant } = found;
  if (!variant && product.variants.length) return { kind: "choose", product };
  if (app().sale?.unresolved?.includes(code)) await addProduct(product, variant, 1, code);
  return { kind: "added", product };
}

// Sales that were put aside: parked orders, and what was left lying by a tab that is gone.

import { discardOrder } from "./order_check.js";
import { isPaidInPart, leave, putInPlace, refusal, refuseWhilePaying } from "./sale.js";
import { change, inOne, read, readAll } from "./store.js";
import { app, update } from "./state.js";

/** Put the order under way aside. Raises ApiError where it is gone, or something of it is being paid. */
export async function park(label) {
  const { id } = app().sale;
  await inOne(["sales", "device", "payments"], async (stores) => {
    const sale = await stores.objectStore("sales").get(id);
    if (!sale || sale.isFinished) throw refusal("sale_changed", "This sale was ended in another tab.");
    await refuseWhilePaying(stores, id);
    await stores.objectStore("sales").put({ ...sale, parkedAt: new Date().toISOString(), label });
    await leave(stores, id);
  });
  update({ sale: null });
}

/** The parked sales, the latest first; those of training only while training. */
export async function parkedSales() {
  const sales = (await readAll("sales")).filter((sale) => sale.parkedAt && sale.isTraining === app().isTraining);
  return sales.sort((a, b) => b.parkedAt.localeCompare(a.parkedAt));
}

/** Give a parked order another label. */
export async function labelParked(id, label) {
  await change("sales", id, (sale) => sale && { ...sale, label }, false);
}

/** Go on with a parked sale; the prices and stock of an order are checked by the shop again. Returns false where it is
    gone: another tab went on with it, or discarded it. Raises ApiError where it cannot be gone on with here. */
export async function resume(id) {
  if (!(await read("sales", id))?.parkedAt) return false;
  await putInPlace(async (sales) => {
    const parked = await sales.get(id);
    if (!parked?.parkedAt) throw refusal("sale_changed", "This order is not parked any more.");
    return { ...parked, ...here(parked), parkedAt: null, isChecked: false };
  });
  return true;
}

/** What a sale is at this location. A basket belongs to its own: elsewhere the order becomes a new one. */
function here(sale) {
  const place = { locationId: app().location.id, currency: app().configuration.currency };
  if (sale.locationId === place.locationId) return {};
  if (isPaidInPart(sale)) {
    throw refusal("other_location", "A part of this was paid at another location. Choose that location to go on.");
  }
  return { ...place, basket: null };
}

/** Throw a parked sale away, unless another tab went on with it. Raises ApiError where something of it is paid. */
export async function discardParked(id) {
  if ((await read("sales", id))?.parkedAt) await discardOrder(id, ({ parkedAt }) => parkedAt);
}

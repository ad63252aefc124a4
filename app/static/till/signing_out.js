// What signing out would lose: what has to do with money hinders it, what was only put together is named before.

import { ApiError } from "./api.js";
import { isUnsent } from "./offline.js";
import { hasUnansweredRefund } from "./refunds.js";
import { inOne, readAll, STORES } from "./store.js";
import { app } from "./state.js";

/** Remove all from the device but what ends the session at the shop. `isSure`: also what was only put together. Without
    that, and where there is such, it is returned in words and nothing is removed. Raises ApiError where something must
    be finished first: `unsent_sales`, `open_payment` or `open_refund`. */
export async function clearDevice(isSure) {
  return inOne(STORES, async (stores) => {
    await refuseToForget(stores);
    const lost = isSure ? [] : lostSales(await stores.objectStore("sales").getAll());
    if (lost.length) return lost;
    const device = stores.objectStore("device");
    const endToken = await device.get("endToken");
    const toEnd = endToken ? { endToken } : await device.get("sessionToEnd");
    for (const store of STORES) stores.objectStore(store).clear();
    if (toEnd) device.put(toEnd, "sessionToEnd");
    return [];
  });
}

async function refuseToForget(stores) {
  const unsent = (await stores.objectStore("offline").getAll()).filter(isUnsent);
  if (unsent.length) {
    const sales = unsent.length === 1 ? "A sale was" : `${unsent.length} sales were`;
    const detail = `${sales} not sent to the shop yet. Unlock the till and look at the waiting sales.`;
    throw new ApiError(0, "unsent_sales", detail);
  }
  if ((await stores.objectStore("payments").getAll()).some((payment) => !payment.isTraining)) {
    throw new ApiError(0, "open_payment", "A payment is not final yet. Finish it before you sign out.");
  }
  if (openOf(await stores.objectStore("sales").getAll()).some((sale) => sale.paid.length)) {
    const detail = "A sale is paid in part. Finish it or give the money back before you sign out.";
    throw new ApiError(0, "open_payment", detail);
  }
  if (!app().isTraining && await hasUnansweredRefund(stores)) {
    throw new ApiError(0, "open_refund", "A refund is not answered yet. Open its payment under Transactions first.");
  }
}

/** What signing out would lose, in words; empty where it is nothing. Sales of training are no loss. */
function lostSales(all) {
  const sales = openOf(all);
  const parked = sales.filter((sale) => sale.parkedAt).length;
  return [
    sales.length > parked && "the sale under way",
    parked > 0 && (parked === 1 ? "a parked order" : `${parked} parked orders`),
  ].filter(Boolean);
}

/** What a locked till keeps, in words. */
export async function keptWork() {
  const [payments, offline, sales] = await Promise.all(["payments", "offline", "sales"].map((name) => readAll(name)));
  return [
    payments.length > 0 && "a payment that is not final",
    ...lostSales(sales),
    offline.some(isUnsent) && "sales that wait to be sent",
  ].filter(Boolean);
}

function openOf(sales) { return sales.filter((sale) => !sale.isFinished && !sale.isTraining); }

// What signing out would lose: what has to do with money hinders it, what was only put together is named before.

import { ApiError } from "./api.js";
import { isUnsent } from "./offline.js";
import { hasUnansweredRefund } from "./refunds.js";
import { readAll } from "./store.js";
import { app } from "./state.js";

/** Raise the ApiError that says what must be finished first: `unsent_sales`, `open_payment` or `open_refund`. */
export async function refuseToForget() {
  const unsent = (await readAll("offline")).filter(isUnsent);
  if (unsent.length) {
    const sales = unsent.length === 1 ? "A sale was" : `${unsent.length} sales were`;
    const detail = `${sales} not sent to the shop yet. Unlock the till and look at the waiting sales.`;
    throw new ApiError(0, "unsent_sales", detail);
  }
  if ((await readAll("payments")).some((payment) => !payment.isTraining)) {
    throw new ApiError(0, "open_payment", "A payment is not final yet. Finish it before you sign out.");
  }
  if ((await openSales()).some((sale) => sale.paid.length)) {
    const detail = "A sale is paid in part. Finish it or give the money back before you sign out.";
    throw new ApiError(0, "open_payment", detail);
  }
  if (!app().isTraining && await hasUnansweredRefund()) {
    throw new ApiError(0, "open_refund", "A refund is not answered yet. Open its payment under Transactions first.");
  }
}

/** What signing out would lose, in words; empty where it is nothing. Sales of training are no loss. */
export async function lostSales() {
  const sales = await openSales();
  const parked = sales.filter((sale) => sale.parkedAt).length;
  return [
    sales.length > parked && "the sale under way",
    parked > 0 && (parked === 1 ? "a parked order" : `${parked} parked orders`),
  ].filter(Boolean);
}

/** What a locked till keeps, in words. */
export async function keptWork() {
  const [payments, offline] = await Promise.all([readAll("payments"), readAll("offline")]);
  return [
    payments.length > 0 && "a payment that is not final",
    ...await lostSales(),
    offline.some(isUnsent) && "sales that wait to be sent",
  ].filter(Boolean);
}

async function openSales() {
  return (await readAll("sales")).filter((sale) => !sale.isFinished && !sale.isTraining);
}

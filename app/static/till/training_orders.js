// The books of training: orders, and payments as they are listed. Functions get the books and change them; refusals are
// the shop's. Training's cards and cash are in training_payments.js, its desk in training_desk.js.

import { ApiError } from "./api.js";
import { app } from "./state.js";

/* Books: {intents, baskets, by id; transactions, the newest first; keys: answers by Idempotency-Key; number: of the
   last order}. */
const PAID = ["SUCCEEDED", "PARTIALLY_REFUNDED", "REFUNDED"];

export function refusal(status, code, detail, more = {}) {
  return new ApiError(status, code, detail, { code, ...more });
}

export function basketLines(wanted) {
  const known = new Map((app().sale?.lines ?? []).map((line) => [line.skuCode, line]));
  return wanted.map(({ skuCode, quantity }, place) => {
    const line = known.get(skuCode);
    if (!line) throw unknownSku(place);
    const { name, options = {}, unitPrice } = line;
    return { id: skuCode, skuCode, name, options, quantity, unitPrice, lineTotal: quantity * unitPrice };
  });
}

function unknownSku(place) {
  const message = "This product is not known.";
  const errors = [{ code: "unknown_sku", message, pointer: `#/lines/${place}/skuCode` }];
  return refusal(400, "unknown_sku", message, { errors });
}

function basketJson(books, basket) {
  const payments = books.transactions.filter((one) => one.orderId === basket.id);
  const subtotal = basket.lines.reduce((sum, line) => sum + line.lineTotal, 0);
  const total = subtotal - basket.discount;
  const amountPaid = payments.filter(isPaid).reduce((sum, one) => sum + one.amountInPence - one.refundedAmount, 0);
  const isOpen = payments.some((one) => !isPaid(one) && one.status !== "CANCELLED");
  return {
    ...basket, subtotal, tax: 0, total, amountPaid, amountDue: Math.max(0, total - amountPaid),
    payments: payments.map(transactionJson),
    paymentState: isOpen ? "IN_PROGRESS" : amountPaid && amountPaid >= total ? "PAID" : "NONE",
  };
}

function basketOf(books, basketId) {
  const basket = books.baskets[basketId];
  if (!basket) throw refusal(404, "basket_not_found", "There is no such basket.");
  return basket;
}

export function isPaid(transaction) { return PAID.includes(transaction.status); }

export function now() { return new Date().toISOString(); }

export function newBasket(books, lines, discount) {
  const basket = {
    id: crypto.randomUUID(), orderNumber: `TRAINING-${books.number += 1}`, status: "OPEN", channel: "POS", revision: 1,
    locationId: app().location.id, currency: app().configuration.currency, lines, discount, created: now(),
    updated: now(),
  };
  books.baskets[basket.id] = basket;
  return basketJson(books, basket);
}

export function fillBasket(books, basketId, lines, revision, discount) {
  const basket = basketOf(books, basketId);
  if (basket.revision !== revision) {
    throw refusal(409, "stale_revision", "The order was changed.", { currentRevision: basket.revision });
  }
  const { amountPaid, paymentState } = basketJson(books, basket);
  if (amountPaid || paymentState === "IN_PROGRESS") {
    throw refusal(409, "basket_locked", "A payment of this order is under way, so it cannot be changed.");
  }
  Object.assign(basket, { lines, discount, revision: revision + 1, updated: now() });
  return basketJson(books, basket);
}

export function submit(books, basketId) {
  const basket = basketOf(books, basketId);
  const { amountDue } = basketJson(books, basket);
  if (amountDue) throw refusal(409, "payment_required", "The order is not paid yet.", { amountDueInPence: amountDue });
  basket.status = "SUBMITTED";
  return { orderId: basket.id, orderNumber: basket.orderNumber, status: "SUBMITTED" };
}

/** The order of a payment with what is due, null for a quick one. */
export function payableOrder(books, orderId, amount) {
  if (!orderId) return null;
  const order = basketJson(books, basketOf(books, orderId));
  const open = books.transactions.find((one) => one.orderId === orderId && !isPaid(one) && one.status !== "CANCELLED");
  if (open) {
    const ids = { transactionId: open.id, paymentIntentId: open.paymentIntentId };
    throw refusal(409, "payment_in_progress", "A payment of this order is under way. Go on with that one.", ids);
  }
  if (!order.amountDue) throw refusal(409, "order_already_paid", "This order is paid.");
  if (amount > order.amountDue) {
    throw refusal(422, "amount_exceeds_due", "That is more than is due.", { amountDueInPence: order.amountDue });
  }
  return order;
}

export function checkAmount(amount) {
  const most = app().configuration.maxAmountInPence;
  if (!(amount > 0)) throw refusal(422, "amount_invalid", "A payment is more than nothing.");
  if (amount > most) {
    const words = "The amount is over the limit of one payment.";
    throw refusal(422, "amount_exceeds_limit", words, { maxAmountInPence: most });
  }
}

export function newTransaction(books, order, more) {
  const transaction = {
    id: crypto.randomUUID(), agentId: app().agent?.id ?? "", tipInPence: 0, changeInPence: null, roundingInPence: null,
    currency: app().configuration.currency, transactionType: order ? "ORDER_PAYMENT" : "QUICK_PAYMENT",
    orderId: order?.id ?? null, orderNumber: order?.orderNumber ?? null, cardBrand: null, cardLast4: null,
    clientSaleId: null, created: now(), paymentIntentId: null, refundedAmount: 0, refunds: [], ...more,
  };
  books.transactions.unshift(transaction);
  return transaction;
}

export function transactionOf(books, transactionId) {
  const found = books.transactions.find((one) => one.id === transactionId);
  if (!found) throw refusal(404, "transaction_not_found", "There is no such payment.");
  return found;
}

export function transactionJson({ refunds, refundedAmount, paymentIntentId, ...shown }) { return shown; }

export function readBasket(books, basketId) { return basketJson(books, basketOf(books, basketId)); }

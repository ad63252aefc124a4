// The desk of training: answers as the shop would, from books kept on this device alone. Like the shop it survives
// reloads and repeats the answer of a key, so that what recovers a real payment recovers one of training.

import { ApiError } from "./api.js";
import { change } from "./store.js";
import { app } from "./state.js";
import { BOOKS } from "./training.js";
import * as orders from "./training_orders.js";
import * as payments from "./training_payments.js";

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">
<rect width="200" height="200" fill="#fff"/>
<rect x="8" y="8" width="184" height="184" fill="none" stroke="#7d5200" stroke-width="6" stroke-dasharray="14 8"/>
<text x="100" y="109" text-anchor="middle" font-family="sans-serif" font-size="29" font-weight="700"
 fill="#7d5200">TRAINING</text></svg>`;

/** Answer from the books, and keep what changed, also where the answer is a refusal or gets lost. Under a key that was
    used before, the answer that it got. */
async function answer(work, key) {
  let found = { error: orders.refusal(409, "training_over", "Training was switched off.") };
  await change("device", BOOKS, (books) => {
    if (!books) return undefined;
    found = key && books.keys[key] ? { body: books.keys[key] } : carryOut(work, books);
    if (key && found.body) books.keys[key] = found.body;
    return books;
  });
  if (found.error) throw found.error;
  return structuredClone(found.body);
}

function carryOut(work, books) {
  try {
    return { body: work(books) };
  } catch (error) {
    return { error };
  }
}

/** `{status, body, headers}`, as `request` of api.js gives it. */
async function whole(work, key) {
  const { status, body } = await answer(work, key);
  return { status, body, headers: new Headers(status === 202 ? { "Retry-After": "1" } : {}) };
}

function noReader() { return Promise.reject(orders.refusal(404, "reader_not_found", "Training has no card readers.")); }

export const trainingDesk = {
  createBasket: (lines, discount = 0) =>
    answer((books) => orders.newBasket(books, orders.basketLines(lines), discount)),
  readBasket: (basketId) => answer((books) => orders.readBasket(books, basketId)),
  updateBasket: (basketId, lines, revision, discount = 0) =>
    answer((books) => orders.fillBasket(books, basketId, orders.basketLines(lines), revision, discount)),
  submitBasket: (basketId) => answer((books) => orders.submit(books, basketId)),

  createIntent: (wanted, key) => answer((books) => payments.newIntent(books, wanted), key),
  readIntent: (intentId) => answer((books) => payments.readIntent(books, intentId)),
  captureIntent: (intentId) => whole((books) => payments.capture(books, intentId)),
  cancelIntent: (intentId) => whole((books) => payments.cancel(books, intentId)),
  presentCard: (intentId, clientSecret, card, pin) => answer((books) => payments.present(books, intentId, card, pin)),
  listReaders: async () => [],
  readReader: noReader,
  processOnReader: noReader,
  cancelReader: noReader,

  takeCash: (wanted, key) => answer((books) => payments.takeCash(books, wanted), key),
  voidCash: (transactionId, reason, key) => answer((books) => payments.voidCash(books, transactionId), key),

  listTransactions: (query) => answer((books) => payments.listTransactions(books, query)),
  readTransaction: (transactionId) => answer((books) => payments.readTransaction(books, transactionId)),
  receipt: (transactionId) => answer((books) => receiptJson(orders.transactionOf(books, transactionId), books)),
  sendReceipt: async () => { throw new ApiError(0, "training", "Training: no e-mail is sent."); },
  refund: (transactionId, body, key) => whole((books) => payments.refund(books, transactionId, body), key),
};

function receiptJson(transaction, books) {
  const { id, currency, orderNumber, tenderType, amountInPence, changeInPence, roundingInPence } = transaction;
  const { displayName, timeZone } = app().configuration;
  const basket = books.baskets[transaction.orderId];
  const lines = (basket?.lines ?? []).map((line) => ({ ...line, detail: Object.values(line.options).join(", ") }));
  const receipt = {
    shop: "TRAINING", location: displayName, address: ["Not a receipt: nothing was sold."], number: "TRAINING",
    orderNumber, paidAt: transaction.created, timeZone, currency, lines,
    subtotal: lines.reduce((sum, line) => sum + line.lineTotal, 0), discount: basket?.discount ?? 0, tax: 0,
    otherPayments: [], tender: tenderType, paid: amountInPence, tip: transaction.tipInPence, change: changeInPence,
    handedOver: tenderType === "CASH" ? amountInPence + roundingInPence + changeInPence : null,
    rounding: roundingInPence, card: [], refunds: [],
  };
  return { transactionId: id, url: `${location.origin}/till/help`, qrSvg: PICTURE, receipt };
}

// Payments in training, by simulated cards and in cash, with what is given back. Functions get the books
// (training_orders.js) and change them.

import { ApiError } from "./api.js";
import { rounded } from "./money.js";
import { app } from "./state.js";
import { CARDS, PIN } from "./training_cards.js";
import {
  checkAmount, isPaid, newTransaction, now, payableOrder, refusal, transactionJson, transactionOf,
} from "./training_orders.js";
import { dateOf } from "./moments.js";

const SLOW = 3_000; // Milliseconds.
const STATUSES = {
  requires_payment_method: "PENDING", processing: "PROCESSING", requires_capture: "AUTHORIZED", succeeded: "SUCCEEDED",
  canceled: "CANCELLED",
};

export function newIntent(books, { orderId, amount, tip = 0 }) {
  const order = payableOrder(books, orderId, amount);
  const taken = amount ?? order?.amountDue;
  checkAmount(taken + tip);
  const id = `pi_training_${crypto.randomUUID()}`;
  const amounts = { amountInPence: taken, tipInPence: tip };
  const start = { tenderType: "CARD", status: "PENDING", paymentIntentId: id };
  const transaction = newTransaction(books, order, { ...start, ...amounts });
  books.intents[id] = {
    id, clientSecret: `${id}_secret`, amount: taken + tip, currency: transaction.currency,
    status: "requires_payment_method", transactionId: transaction.id, lastError: null,
  };
  return { ...stateJson(books.intents[id]), clientSecret: books.intents[id].clientSecret };
}

function stateJson({ id, amount, currency, status, transactionId }) {
  return { id, amount, currency, status, transactionId };
}

function presentedJson(intent, { cardBrand, cardLast4 }) {
  return { ...stateJson(intent), cardBrand, cardLast4, lastError: intent.lastError };
}

/** An intent with its transaction, both as they are by now. */
function intentOf(books, intentId) {
  const intent = books.intents[intentId];
  if (!intent) throw refusal(404, "payment_intent_not_found", "This location has no such payment.");
  if (intent.status === "processing" && Date.now() >= intent.paysAt) intent.status = "succeeded";
  return { intent, transaction: follow(books, intent) };
}

function follow(books, intent) {
  const transaction = transactionOf(books, intent.transactionId);
  if (isPaid(transaction)) return transaction;
  transaction.status = STATUSES[intent.status];
  const card = CARDS[intent.card];
  if (isPaid(transaction)) Object.assign(transaction, { cardBrand: card.brand ?? "visa", cardLast4: card.last4 });
  return transaction;
}

export function present(books, intentId, name, pin) {
  const { intent, transaction } = intentOf(books, intentId);
  const card = CARDS[name];
  const isSecondTap = intent.card === name;
  if (intent.status === "canceled") throw refusal(409, "payment_canceled", "This payment was cancelled.");
  if (intent.status !== "requires_payment_method") {
    if (isSecondTap) return presentedJson(intent, transaction);
    const code = intent.status === "succeeded" ? "already_captured" : "payment_processing";
    throw refusal(409, code, "A card paid already.");
  }
  if (card.unreadable) throw refusal(422, ...card.unreadable);
  if (card.asksForPin && !pin) throw refusal(422, "pin_required", "The card asks for its PIN.");
  if (card.answer === "never") throw noAnswer();
  intent.card = name;
  intent.lastError = errorOf(card, pin, isSecondTap);
  if (!intent.lastError) Object.assign(intent, { status: card.becomes ?? "succeeded", paysAt: Date.now() + SLOW });
  follow(books, intent);
  if (card.answer === "lost") throw noAnswer();
  return presentedJson(intent, transaction);
}

function errorOf(card, pin, isSecondTap) {
  if (card.error && !(card.paysAtSecondTap && isSecondTap)) return card.error;
  return card.asksForPin && pin !== PIN ? { code: "card_declined", declineCode: "incorrect_pin" } : null;
}

function noAnswer() { return new ApiError(0, "no_answer", "The card reader had no answer in time."); }

export function capture(books, intentId) {
  const { intent } = intentOf(books, intentId);
  const ids = { transactionId: intent.transactionId, paymentIntentId: intent.id };
  if (intent.status === "canceled") throw refusal(409, "payment_canceled", "This payment was cancelled.", ids);
  if (intent.status === "requires_payment_method") {
    if (!intent.lastError) throw refusal(409, "payment_not_collected", "No card was held to the reader yet.", ids);
    const { declineCode } = intent.lastError;
    const words = "The card was declined. Try again or use another card.";
    throw refusal(402, "card_declined", words, { declineCode, retryable: true, ...ids });
  }
  if (intent.status === "requires_capture") intent.status = "succeeded";
  const transaction = follow(books, intent);
  const isSettled = intent.status === "succeeded";
  const amountReceived = isSettled ? intent.amount : 0;
  const body = { ...stateJson(intent), amountReceived, transaction: transactionJson(transaction) };
  return { status: isSettled ? 200 : 202, body };
}

export function cancel(books, intentId) {
  const { intent } = intentOf(books, intentId);
  const ids = { transactionId: intent.transactionId, paymentIntentId: intent.id };
  if (intent.status === "succeeded") {
    const transaction = transactionJson(follow(books, intent));
    throw refusal(409, "already_captured", "This payment was made. Give a refund instead.", { ...ids, transaction });
  }
  if (intent.status === "processing") {
    throw refusal(409, "payment_processing", "The card is being charged just now. Look again in a moment.", ids);
  }
  intent.status = "canceled";
  follow(books, intent);
  return { status: 200, body: stateJson(intent) };
}

export function takeCash(books, { orderId, amount, tendered }) {
  const order = payableOrder(books, orderId, amount);
  checkAmount(amount);
  const isLast = !order || amount === order.amountDue;
  const toPay = isLast ? rounded(amount, app().configuration.cashRounding) : amount;
  const received = tendered ?? toPay;
  if (received < toPay) throw refusal(422, "tendered_too_small", "What was handed over is less than the amount.");
  return transactionJson(newTransaction(books, order, {
    tenderType: "CASH", status: "SUCCEEDED", amountInPence: amount, changeInPence: received - toPay,
    roundingInPence: toPay - amount,
  }));
}

export function voidCash(books, transactionId) {
  const transaction = transactionOf(books, transactionId);
  const order = transaction.orderId ? books.baskets[transaction.orderId] : null;
  const words = transaction.tenderType !== "CASH" ? "Only cash can be taken back. Cancel or refund a card payment."
    : transaction.refundedAmount ? "Money of this payment was given back already."
      : order?.status === "SUBMITTED" ? "The order was submitted. Refund the payment instead." : null;
  if (words) throw refusal(409, "void_not_allowed", words, { transactionId });
  transaction.status = "CANCELLED";
  return transactionJson(transaction);
}

export function refund(books, transactionId, { amountInPence, reason, tender }) {
  const transaction = transactionOf(books, transactionId);
  const left = transaction.amountInPence + transaction.tipInPence - transaction.refundedAmount;
  const amount = amountInPence ?? left;
  checkRefund(transaction, amount, left);
  const inCash = (tender ?? transaction.tenderType) === "CASH";
  const given = inCash ? rounded(amount, app().configuration.cashRounding) : amount;
  const made = {
    id: crypto.randomUUID(), transactionId, tender: inCash ? "CASH" : "CARD", amountInPence: amount,
    roundingInPence: given - amount, currency: transaction.currency, reason, status: "SUCCEEDED", created: now(),
  };
  const failsLater = !inCash && CARDS[books.intents[transaction.paymentIntentId]?.card]?.refundsFail;
  transaction.refunds.push({ ...made, failsLater });
  countRefunds(transaction);
  return { status: 201, body: made };
}

function checkRefund(transaction, amount, left) {
  if (!isPaid(transaction)) {
    throw refusal(409, "payment_not_refundable", "Only a payment that succeeded can be refunded.");
  }
  if (!left) throw refusal(409, "already_refunded", "All of this payment was refunded already.");
  if (amount > left) {
    throw refusal(422, "refund_exceeds_payment", "That is more than can be refunded.", { maxAmountInPence: left });
  }
}

function countRefunds(transaction) {
  if (!isPaid(transaction)) return;
  const made = transaction.refunds.filter((one) => one.status !== "FAILED");
  const sum = made.reduce((all, one) => all + one.amountInPence, 0);
  const paid = transaction.amountInPence + transaction.tipInPence;
  transaction.refundedAmount = sum;
  transaction.status = !sum ? "SUCCEEDED" : sum < paid ? "PARTIALLY_REFUNDED" : "REFUNDED";
}

export function readTransaction(books, transactionId) {
  const transaction = transactionOf(books, transactionId);
  if (transaction.paymentIntentId) intentOf(books, transaction.paymentIntentId);
  const { paymentIntentId, refundedAmount } = transaction;
  const refunds = transaction.refunds.map(({ id, amountInPence, tender, status, created }) =>
    ({ id, amountInPence, tender, status, created }));
  const shown = { ...transactionJson(transaction), paymentIntentId, refundedAmount, refunds };
  // A refund that fails later is there this once.
  const failing = transaction.refunds.filter((one) => one.failsLater);
  for (const one of failing) Object.assign(one, { failsLater: false, status: "FAILED" });
  countRefunds(transaction);
  return shown;
}

export function listTransactions(books, query) {
  const { startDate, endDate, status, agentId, tenderType, pageSize = 20, pageNumber = 1 } = query;
  const found = books.transactions.filter((one) => (!startDate || dateOf(one.created) >= startDate)
    && (!endDate || dateOf(one.created) <= endDate) && (!status || one.status === status)
    && (!agentId || one.agentId === agentId) && (!tenderType || one.tenderType === tenderType));
  const items = found.slice((pageNumber - 1) * pageSize, pageNumber * pageSize).map(transactionJson);
  return { items, pageNumber, pageSize, totalItems: found.length, totalPages: Math.ceil(found.length / pageSize) };
}

export function readIntent(books, intentId) {
  const { intent } = intentOf(books, intentId);
  const clientSecret = intent.status === "succeeded" || intent.status === "canceled" ? null : intent.clientSecret;
  return { ...stateJson(intent), clientSecret, lastError: intent.lastError };
}

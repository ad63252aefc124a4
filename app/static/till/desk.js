// The desk: every call that a sale needs, in one place, so that training (training_desk.js) can stand in for the shop.

import { at, get, post, put, request } from "./api.js";
import { app } from "./state.js";

const id = encodeURIComponent;

const shopDesk = {
  /** Begin an order. `discount` in minor units: only for agents who may. */
  createBasket: (lines, discount = 0) =>
    post("/v1/basket", { locationId: app().location.id, channel: "POS", lines, discount }),
  readBasket: (basketId, options) => get(`/v1/basket/${id(basketId)}`, options),
  updateBasket: (basketId, lines, revision, discount = 0) =>
    put(`/v1/basket/${id(basketId)}`, { lines, revision, discount }),
  submitBasket: (basketId, paymentIntentId) =>
    put(`/v1/basket/${id(basketId)}/submit`, paymentIntentId ? { paymentIntentId } : {}),

  /** Begin a card payment: of an order (`orderId`), or of an amount. Returns a PosPaymentIntent. */
  createIntent: ({ orderId, amount, tip, description, currency }, key) => (orderId
    ? post(`/v1/basket/${id(orderId)}/paymentIntent`,
      { locationId: app().location.id, amountInPence: amount, tipInPence: tip }, { key })
    : post(at("paymentIntents"), { amountInPence: amount, tipInPence: tip, currency, description }, { key })),
  readIntent: (intentId) => get(at(`paymentIntents/${id(intentId)}`)),
  /** `{status, body}`: 200 settled, 202 not known yet. */
  captureIntent: (intentId) => request("POST", at(`paymentIntents/${id(intentId)}/capture`)),
  cancelIntent: (intentId, reason) =>
    request("POST", at(`paymentIntents/${id(intentId)}/cancel`), { body: { reason } }),
  /** Hold a simulated card to the simulated reader. */
  presentCard: async (intentId, clientSecret, card, pin) => {
    const { token } = await get(at("paymentToken"));
    const body = { clientSecret, card, ...(pin ? { pin } : {}) };
    return post(`/v1/pos/simulator/paymentIntents/${id(intentId)}/present`, body, { token });
  },
  listReaders: async () => (await get(at("readers"))).items,
  readReader: (readerId) => get(at(`readers/${id(readerId)}`)),
  processOnReader: (readerId, paymentIntentId) => post(at(`readers/${id(readerId)}/process`), { paymentIntentId }),
  cancelReader: (readerId) => post(at(`readers/${id(readerId)}/cancel`), {}),

  /** Take cash; the answer is a PosTransaction. */
  takeCash: ({ orderId, amount, tendered, description, currency }, key) => post(at("cashPayments"),
    { amountInPence: amount, tenderedInPence: tendered, currency, description, orderId }, { key }),
  voidCash: (transactionId, reason, key) => post(at(`transactions/${id(transactionId)}/void`), { reason }, { key }),

  /** A page of the location's payments; `query` as of the API. */
  listTransactions: (query) => get(at(`transactions?${new URLSearchParams(query)}`)),
  readTransaction: (transactionId) => get(at(`transactions/${id(transactionId)}`)),
  /** `{url, qrSvg}` */
  receipt: (transactionId) => get(at(`transactions/${id(transactionId)}/receipt`)),
  /** Give back a payment or a part of it: `{status, body}`, 201 made, 202 not known yet. `body`: {amountInPence,
      reason, tender}. */
  refund: (transactionId, body, key) => request("POST", at(`transactions/${id(transactionId)}/refunds`), { body, key }),
  sendReceipt: (transactionId, email) => post(at(`transactions/${id(transactionId)}/receipt`), { email }),
};

let trainingDesk = null;

/** Let training stand in for the shop from now on, or no longer (null). */
export function useTrainingDesk(desk) { trainingDesk = desk; }

export function desk() { return app().isTraining && trainingDesk ? trainingDesk : shopDesk; }

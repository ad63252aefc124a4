// The simulated reader: an agent chooses the card on the screen, as a customer would hold one to a real reader.

import { desk } from "../desk.js";
import { send, wait } from "./hand.js";

const IS_OVER = ["already_captured", "payment_canceled", "payment_processing"];

export const simulatedReader = {
  async collect(payment, onState) {
    let notice = payment.notice;
    for (;;) {
      await onState({ state: "waiting", notice });
      const chosen = await wait();
      if (chosen?.kind !== "card") return false;
      try {
        return await present(payment, chosen.card, onState);
      } catch (error) {
        if (IS_OVER.includes(error.code)) return true;
        if (error.status !== 422) throw error;
        notice = error.message; // The reader could not read the card: no attempt was made.
      }
    }
  },

  async cancel() {},
};

/** Hold a card to the reader, with its PIN where the reader asks for one. Raises ApiError. */
async function present(payment, card, onState) {
  await onState({ state: "processing", notice: null });
  try {
    await desk().presentCard(payment.intentId, payment.clientSecret, card);
    return true;
  } catch (error) {
    if (error.code !== "pin_required") throw error;
  }
  await onState({ state: "pin" });
  const typed = await wait();
  if (typed?.kind !== "pin") return false;
  await onState({ state: "processing" });
  await desk().presentCard(payment.intentId, payment.clientSecret, card, typed.pin);
  return true;
}

export function presentCard(card) { send({ kind: "card", card }); }

export function typePin(pin) { send({ kind: "pin", pin }); }

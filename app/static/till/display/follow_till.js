// What the customer's display shows follows from the sale and the payment on the till's screen.

import { due } from "../sale.js";
import { app, onUpdate } from "../state.js";
import { showBasket, showIdle, showPayment } from "./channel.js";

const BEFORE_A_CARD = ["starting", "reader"]; // Of a payment: the cashier has something to choose.

/** Show the sale under way on the customer's display from now on. Returns the function that ends it. */
export function followTill() {
  let last = "";
  const follow = () => {
    const [show, shown] = toShow(app());
    const text = JSON.stringify([show.name, shown]);
    if (text === last) return;
    last = text;
    show(shown);
  };
  follow();
  return onUpdate(follow);
}

function toShow({ phase, sale, payment, configuration }) {
  if (phase !== "ready" || !sale || sale.isTraining) return [showIdle, configuration?.shopName ?? ""];
  const isPaying = payment && payment.saleId === sale.id && !BEFORE_A_CARD.includes(payment.state);
  if (isPaying) return [showPayment, stateOf(payment, sale)];
  if (sale.isFinished) return [showPayment, paidIn(sale)];
  const toPay = due(sale).amount;
  if (sale.kind === "QUICK") return [showPayment, { state: "cash", amount: toPay, currency: sale.currency }];
  return [showBasket, basketOf(sale, toPay)];
}

function stateOf({ tender, state, amount, tip }, sale) {
  if (tender === "CASH") return { state: "cash", amount: due(sale).amount, currency: sale.currency };
  return { state, amount: amount + (tip ?? 0), currency: sale.currency };
}

function paidIn({ paid, change, currency, offline }) {
  const amount = offline?.toPay ?? paid.reduce((sum, one) => sum + one.amountInPence + (one.tipInPence ?? 0), 0);
  return { state: "approved", amount, currency, change: change ?? paid.at(-1)?.changeInPence ?? 0 };
}

function basketOf({ lines, currency, basket, isChecked }, toPay) {
  const shown = lines.map(({ name, options, quantity, unitPrice }) =>
    ({ name: [name, ...Object.values(options ?? {})].join(", "), quantity, lineTotal: quantity * unitPrice }));
  return { currency, lines: shown, total: basket && isChecked ? basket.total : toPay, due: toPay };
}

// One payment: how it stands, its receipt, and giving the money back.

import { takeBack } from "../cash.js";
import { desk } from "../desk.js";
import { dayOf, shortDayOf, timeOf } from "../moments.js";
import { money } from "../money.js";
import { paidAmount, stateOf, tenderOf } from "../transaction_words.js";
import { mayRefund, openRefund, refundable } from "../refunds.js";
import { notePayment } from "../sale.js";
import { app, useApp } from "../state.js";
import {
  Amount, Button, html, Loading, Note, Problem, Screen, sentence, useAction, useEffect, useState,
} from "../ui.js";
import { Receipt } from "./_receipt.js";
import { OpenRefund, RefundDialog } from "./_refund.js";
import { keptPayment } from "./transactions.js";
import { VoidDialog } from "./_void.js";

const PAID = ["SUCCEEDED", "PARTIALLY_REFUNDED", "REFUNDED"];

export default function Transaction({ id }) {
  const { isOnline } = useApp();
  const [payment, setPayment] = useState(null); // With `isKept`: as it was loaded last.
  const [refund, setRefund] = useState(null); // The one that is not final yet.
  const [done, setDone] = useState(null); // What was just given back: a refund, or the payment that was taken back.
  const [load, , error] = useAction(async () => {
    setRefund(await openRefund(id) ?? null);
    setPayment(await readPayment(id));
  });
  useEffect(() => { if (isOnline || !payment) load(); }, [isOnline]);
  const [refusal, setRefusal] = useState(null);
  const settled = (made, refused) => {
    setDone(made);
    setRefusal(refused ? sentence(refused) : null);
    scrollTo(0, 0);
    return load();
  };
  return html`
    <${Screen} title="Payment" back="/till/transactions">
      <${Problem}>${error ?? refusal}<//>
      ${!payment && !error && html`<${Loading} />`}
      ${payment?.isKept && html`<${Note} kind="warn">Offline: this is the payment as it was loaded last.<//>`}
      <div role="status" class=${done ? "" : "unseen"}>${done && html`<${GivenBack} done=${done} />`}</div>
      ${refund && html`<${OpenRefund} refund=${refund} payment=${payment} onEnd=${settled} />`}
      ${payment && html`<${FailedRefunds} payment=${payment} />`}
      ${payment && html`<${Figures} payment=${payment} />`}
      ${payment && PAID.includes(payment.status) && !payment.isKept && html`<${Receipt} transactionId=${id} />`}
      ${payment && !payment.isKept && !refund && html`<${GiveBack} payment=${payment} onChange=${settled} />`}
    <//>`;
}

/** The payment with what the shop alone knows: whether its order was submitted. Raises ApiError. */
async function readPayment(id) {
  try {
    const payment = await desk().readTransaction(id);
    await notePayment(payment);
    return { ...payment, mayVoid: isOwnCash(payment) && await isOpen(payment.orderId) };
  } catch (error) {
    const kept = error.status === 0 && !app().isTraining ? await keptPayment(id) : null;
    if (!kept) throw error;
    return { ...kept, isKept: true };
  }
}

/** Whether the order of a payment is not submitted yet; a quick payment has none. */
async function isOpen(orderId) {
  return !orderId || desk().readBasket(orderId).then(({ status }) => status === "OPEN", () => false);
}

function isOwnCash({ tenderType, status, agentId }) {
  return tenderType === "CASH" && status === "SUCCEEDED" && agentId === app().agent?.id;
}

function Figures({ payment }) {
  const { currency, tipInPence, roundingInPence, changeInPence, refundedAmount } = payment;
  const state = stateOf(payment);
  const who = payment.agentId === app().agent?.id ? "You" : "A colleague";
  const amount = (of) => html`<${Amount} of=${of} currency=${currency} />`;
  const rows = [
    ["Sale", (tipInPence || roundingInPence) && amount(payment.amountInPence)],
    ["Tip", tipInPence > 0 && amount(tipInPence)],
    ["Rounding", roundingInPence !== null && roundingInPence !== 0 && amount(roundingInPence)],
    ["Received", changeInPence > 0 && amount(paidAmount(payment) + changeInPence)],
    ["Change", changeInPence > 0 && amount(changeInPence)],
    ["Refunded", refundedAmount > 0 && amount(-refundedAmount)],
    ["Paid with", tenderOf(payment)],
    ["Order", payment.orderNumber],
    ["Taken", `${dayOf(payment.created)}, ${timeOf(payment.created)}`],
    ["By", who],
    ["Number", html`<span class="payment-id">${payment.id}</span>`],
  ];
  return html`
    <section class="card" aria-label="Figures">
      <div class="between"><${Amount} of=${paidAmount(payment)} currency=${currency} className="amount" />
        <span class=${`badge ${state.kind}`}>${state.label}</span></div>
      ${state.sentence && html`<p>${state.sentence}</p>`}
      <dl class="figures">${rows.filter(([, value]) => value).map(([name, value]) => html`
        <div key=${name}><dt>${name}</dt><dd class="n">${value}</dd></div>`)}</dl>
    </section>`;
}

/** Refunds that the card did not take, also days later: the customer has nothing of them. */
function FailedRefunds({ payment: { refunds = [], currency } }) {
  return refunds.filter(({ status }) => status === "FAILED").map(({ id, amountInPence, created }) => html`
    <${Note} key=${id} kind="bad">Refund of ${money(amountInPence, currency)} failed on ${shortDayOf(created)}: the card
      did not take it. The customer has not got this money.<//>`);
}

/** What to hand over, or what happens to the card, after something was given back. */
function GivenBack({ done }) {
  if (done.status === "CANCELLED") {
    const given = html`<${Amount} of=${paidAmount(done)} currency=${done.currency} className="strong" />`;
    return html`<${Note}>Taken back. Give the customer ${given}.<//>`;
  }
  const sum = done.amountInPence + done.roundingInPence;
  const amount = html`<${Amount} of=${sum} currency=${done.currency} className="strong" />`;
  if (done.tender === "CASH") return html`<${Note}>Refunded. Give the customer ${amount} in cash.<//>`;
  return html`<${Note}>Refunded: ${amount} goes back to the card, which takes a few days.<//>`;
}

function GiveBack({ payment, onChange }) {
  const { isOnline, isTraining } = useApp();
  const [dialog, open] = useState(null); // "refund" or "void".
  if (!PAID.includes(payment.status) || refundable(payment) <= 0) return null;
  const { may, reason } = mayRefund(payment);
  const isAway = !isOnline && !isTraining;
  const close = (made) => { open(null); if (made !== undefined) onChange(made); };
  return html`
    <section class="stack" aria-label="Give back">
      ${isAway && html`<p class="muted">Giving money back needs the network.</p>`}
      ${!may && html`<p class="muted">${reason}</p>`}
      ${payment.mayVoid && html`<${Button} disabled=${isAway} onPress=${() => open("void")}>Take back<//>`}
      ${may && html`<${Button} kind="danger" disabled=${isAway} onPress=${() => open("refund")}>Refund<//>`}
      ${dialog === "refund" && html`<${RefundDialog} payment=${payment} onClose=${close} />`}
      ${dialog === "void" && html`<${VoidDialog} payment=${payment} onClose=${close}
        takeBack=${(reason, key) => takeBack(payment.id, reason, key)} />`}
    </section>`;
}

// An amount without products.

import { forPeople } from "../failure.js";
import { money } from "../money.js";
import { go } from "../navigation.js";
import { beginCard, limitProblem } from "../payments.js";
import { endSale, QUICK, startQuick } from "../sale.js";
import { app, update, useApp } from "../state.js";
import {
  Amount, Button, Field, html, Keypad, Note, Problem, Screen, useAction, useEffect, useRef, useState,
} from "../ui.js";

const LONGEST = 200; // Characters of a description.

export default function QuickPayment() {
  const { configuration, sale, payment, isOnline, isTraining } = useApp();
  const before = useRef(sale?.kind === QUICK && !sale.paid.length && !payment ? sale : null).current;
  const [amount, setAmount] = useState(before?.amount ?? 0);
  const [description, setDescription] = useState(before?.description ?? "");
  const [take, isBusy, error, forgetError] = useAction((tender) => charge(tender, { amount, description }));
  useEffect(() => {
    // Its amount is changed, so it begins anew; unless another tab began to have it paid.
    if (before) endSale(before.id).catch(() => go("/till/pay", { replaces: true }));
    else if (payment || sale) go(payment || sale.kind === QUICK ? "/till/pay" : "/till/order", { replaces: true });
  }, []);
  const currency = configuration?.currency ?? "gbp";
  const largest = configuration?.maxAmountInPence;
  const over = amount > largest ? limitProblem(amount, currency, { isCard: false }) : null;
  const change = (value) => { forgetError(); setAmount(value); };
  const foot = html`<${Tenders} take=${take} isBusy=${isBusy} configuration=${configuration} isOnline=${isOnline} />`;
  return html`
    <${Screen} title="Quick payment" back="/till" foot=${foot} className="quick">
      <p class="sum" aria-live="polite"><span class="unseen">Amount</span>
        <${Amount} of=${amount} currency=${currency} className=${`amount${over ? " bad-ink" : ""}`} /></p>
      ${largest !== undefined && html`
        <p class="muted small center">Up to ${money(largest, currency)} in one payment</p>`}
      <${Problem}>${over ?? error}<//>
      ${!isOnline && !isTraining && !error && html`<${Note} kind="warn">There is no network. Quick payments need one,
        by card and in cash; an order can be paid in cash.<//>`}
      <${Keypad} label="Amount" value=${amount} onChange=${change} />
      <${Field} label="Description" id="description" value=${description} onInput=${setDescription} maxlength=${LONGEST}
        autocomplete="off" placeholder="What is sold (optional)" />
    <//>`;
}

function Tenders({ take, isBusy, configuration, isOnline }) {
  const takesCash = configuration?.permissions.cash !== false;
  return html`<div class="choices">
    ${configuration?.processor !== "none" && html`<${Button} kind=${isOnline ? "primary big" : "big"} icon="card"
      isBusy=${isBusy} onPress=${() => take("CARD")}>Card<//>`}
    ${takesCash && html`<${Button} kind="big" icon="cash" disabled=${isBusy} onPress=${() => take("CASH")}>Cash<//>`}
  </div>`;
}

/** Begin the sale, and with it the payment. Raises ApiError where the amount is refused: then there is no sale. */
async function charge(tender, { amount, description }) {
  const { configuration } = app();
  const isCard = tender === "CARD";
  const problem = limitProblem(amount, configuration.currency, { isCard });
  if (problem) throw forPeople(problem);
  const sale = await startQuick({ amount, description: description.trim() });
  if (!isCard || configuration.tips) {
    update({ tender });
    return go("/till/pay");
  }
  try {
    await beginCard({ amount });
  } catch (error) {
    await endSale(sale.id).catch(() => {}); // With a payment that is not final it stays.
    update({ refusal: null });
    throw error;
  }
  return go("/till/pay");
}

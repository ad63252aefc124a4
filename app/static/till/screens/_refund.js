// Giving back a payment, and a refund that is not final yet.

import { money, parseMoney } from "../money.js";
import { openRefund, refundable, sendRefund, startRefund } from "../refunds.js";
import { app, useApp } from "../state.js";
import { Amount, Button, Dialog, Field, html, Note, Problem, useAction, useEffect, useState } from "../ui.js";

const FIRST_PAUSE = 1_000; // Milliseconds.
const LONGEST_PAUSE = 30_000;

/** `onClose` gets the refund that was made, null for one that is not final yet, and nothing where there is none. */
export function RefundDialog({ payment, onClose }) {
  const left = refundable(payment);
  const [isPart, setPart] = useState(false);
  const [text, setText] = useState("");
  const [tender, setTender] = useState(payment.tenderType);
  const [reason, setReason] = useState("");
  const [errors, setErrors] = useState({});
  const amount = isPart ? parseMoney(text, payment.currency) : left;
  const [give, isBusy, error] = useAction(async () => {
    const found = problemsOf(amount, left, payment.currency, reason);
    setErrors(found);
    if (found.amount || found.reason) return;
    onClose(await startRefund(payment.id, { amountInPence: amount, reason: reason.trim(), tender }));
  });
  return html`
    <${Dialog} title="Refund" onClose=${() => onClose()}
      foot=${html`<${Button} onPress=${() => onClose()}>Back<//>
        <${Button} kind="danger" isBusy=${isBusy} busy="Refunding…" onPress=${give}>
          Refund${amount ? ` ${money(amount, payment.currency)}` : ""}<//>`}>
      <fieldset><legend class="label">How much</legend>
        <${Radio} name="how-much" checked=${!isPart} onPick=${() => setPart(false)}>
          ${payment.refundedAmount ? "All that is left" : "All of it"}, ${money(left, payment.currency)}<//>
        <${Radio} name="how-much" checked=${isPart} onPick=${() => setPart(true)}>A part<//></fieldset>
      ${isPart && html`<${Field} label="Amount" id="refund-amount" inputmode="decimal" autocomplete="off" value=${text}
        onInput=${setText} error=${errors.amount} />`}
      <${Tenders} payment=${payment} tender=${tender} onPick=${setTender} />
      <${Field} label="Reason" id="refund-reason" value=${reason} onInput=${setReason} error=${errors.reason}
        maxlength="200" />
      <${Problem}>${error}<//>
    <//>`;
}

function problemsOf(amount, left, currency, reason) {
  const most = amount > left ? `At most ${money(left, currency)} can be given back.` : null;
  return {
    amount: amount ? most : "Enter an amount, such as 5.00.",
    reason: reason.trim() ? null : "Say why, for the shop's books.",
  };
}

function Tenders({ payment, tender, onPick }) {
  if (payment.tenderType === "CASH") return html`<p class="muted">It was paid in cash and is given back in cash.</p>`;
  if (!app().configuration?.permissions.cash) return html`<p class="muted">It goes back to the card.</p>`;
  return html`<fieldset><legend class="label">Give it back</legend>
    <${Radio} name="refund-tender" checked=${tender === "CARD"} onPick=${() => onPick("CARD")}>To the card<//>
    <${Radio} name="refund-tender" checked=${tender === "CASH"} onPick=${() => onPick("CASH")}>In cash<//></fieldset>`;
}

function Radio({ name, checked, onPick, children }) {
  return html`<label class="check"><input type="radio" name=${name} checked=${checked} onChange=${onPick} />
    <span>${children}</span></label>`;
}

/** A refund that nobody knows the end of yet: the shop is asked again until it is known. `onEnd` gets the refund,
    or null and the refusal. */
export function OpenRefund({ refund, payment, onEnd }) {
  const { isOnline, isTraining } = useApp();
  const [ask, isBusy] = useAction(async () => {
    const [made, refusal] = await sendRefund(refund.transactionId).then((known) => [known], (error) => [null, error]);
    const isOver = made || refusal || !await openRefund(refund.transactionId);
    if (isOver) onEnd(made, refusal);
    return isOver;
  });
  useEffect(() => {
    if (!isOnline && !isTraining) return undefined;
    let timer = null;
    const again = (pause) => {
      timer = setTimeout(async () => {
        if (!await ask() && timer) again(Math.min(pause * 2, LONGEST_PAUSE));
      }, pause);
    };
    again(FIRST_PAUSE);
    return () => { clearTimeout(timer); timer = null; };
  }, [isOnline]);
  const { amountInPence, reason } = refund.body;
  const isKnown = refund.state === "WAITING";
  return html`
    <section class="card" aria-label="Refund">
      <h2>We don't know yet</h2>
      <div role="status">
        <p>${isKnown ? "The shop is finding out whether this refund was made." : "The shop has not answered yet."}</p>
      </div>
      <p><${Amount} of=${amountInPence} currency=${payment?.currency} />, ${reason}.</p>
      <p>Do not give the money back another way.</p>
      <${Button} isBusy=${isBusy} busy="Asking…" disabled=${!isOnline && !isTraining} onPress=${ask}>Ask again<//>
    </section>`;
}

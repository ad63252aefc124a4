// What was paid of a sale so far, and taking cash back before it is finished.

import { takeBack } from "../cash.js";
import { money } from "../money.js";
import { ORDER } from "../sale.js";
import { Amount, Button, Dialog, Field, html, Problem, useAction, useState } from "../ui.js";

const TAKEN = ["SUCCEEDED", "PARTIALLY_REFUNDED"];

export default function Parts({ sale }) {
  const [returned, setReturned] = useState(null); // The payment that is being taken back.
  const parts = partsOf(sale);
  if (!parts.length || sale.isFinished) return null;
  return html`
    ${sale.change > 0 && html`<p class="between given" role="status"><span class="strong">Change</span>
      <${Amount} of=${sale.change} currency=${sale.currency} className="amount" /></p>`}
    <section class="card parts" aria-labelledby="parts-title">
      <h2 id="parts-title">Paid so far</h2>
      <ul class="list" aria-labelledby="parts-title">
        ${parts.map((part) => html`<li key=${part.id} class="row apart">
          <span class="strong">${nameOf(part)}
            ${part.tipInPence > 0 && html` <span class="muted small">and ${money(part.tipInPence, part.currency)}
              tip</span>`}</span>
          <span class="row"><${Amount} of=${part.amountInPence} currency=${part.currency} />
            ${part.tenderType === "CASH" && html`<${Button} onPress=${() => setReturned(part)}>Take back<//>`}</span>
        </li>`)}
      </ul>
      ${returned && html`<${TakeBack} part=${returned} onClose=${() => setReturned(null)} />`}
    </section>`;
}

/** The shop's list for an order, which has the payments of other devices as well. */
function partsOf(sale) {
  const known = sale.kind === ORDER && sale.basket?.payments.length ? sale.basket.payments : sale.paid;
  return known.filter(({ status }) => TAKEN.includes(status));
}

function nameOf({ tenderType, cardBrand, cardLast4 }) {
  if (tenderType === "CASH") return "Cash";
  return cardLast4 ? `${(cardBrand ?? "card").replace(/^./, (first) => first.toUpperCase())} ${cardLast4}` : "Card";
}

function TakeBack({ part, onClose }) {
  const [reason, setReason] = useState("");
  const [isMissing, setMissing] = useState(false);
  const handedOver = part.amountInPence + (part.roundingInPence ?? 0);
  const [send, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    setMissing(!reason.trim());
    if (!reason.trim()) return;
    await takeBack(part, reason.trim());
    onClose();
  });
  return html`
    <${Dialog} title="Take back cash" onClose=${onClose}>
      <form class="stack" onSubmit=${send} novalidate>
        <p>Hand ${money(handedOver, part.currency)} back to the customer. The payment is cancelled.</p>
        <${Field} label="Reason" id="void-reason" value=${reason} onInput=${setReason} maxlength="200"
          error=${isMissing ? "Say why." : null} />
        <${Problem}>${error}<//>
        <${Button} kind="danger big" type="submit" isBusy=${isBusy}>Take back ${money(handedOver, part.currency)}<//>
      </form>
    <//>`;
}

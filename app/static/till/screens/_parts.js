// What was paid of a sale so far, and taking cash back before it is finished.

import { takeBack } from "../cash.js";
import { ORDER } from "../sale.js";
import { tenderOf } from "../transaction_words.js";
import { Amount, Button, html, useState } from "../ui.js";
import { VoidDialog } from "./_void.js";

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
          <span class="strong">${tenderOf(part)}</span>
          <span class="row"><${Amount} of=${part.amountInPence} currency=${part.currency} />
            ${part.tenderType === "CASH" && html`<${Button} onPress=${() => setReturned(part)}>Take back<//>`}</span>
        </li>`)}
      </ul>
      ${returned && html`<${VoidDialog} payment=${returned} onClose=${() => setReturned(null)}
        takeBack=${(reason, key) => takeBack(returned, reason, key)} />`}
    </section>`;
}

/** The shop's list for an order, which has the payments of other devices as well. */
function partsOf(sale) {
  const known = sale.kind === ORDER && sale.basket?.payments.length ? sale.basket.payments : sale.paid;
  return known.filter(({ status }) => TAKEN.includes(status));
}

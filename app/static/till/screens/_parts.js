// What was paid of a sale so far, and taking cash back before it is finished.

import { money } from "../money.js";
import { takeBackHere } from "../cash.js";
import { keptOf, ORDER } from "../sale.js";
import { tenderOf } from "../transaction_words.js";
import { Amount, Button, html, useState } from "../ui.js";
import { VoidDialog } from "./_void.js";

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
          <span><span class="strong">${tenderOf(part)}</span>
            ${part.tipInPence > 0 && html`<span class="muted small">
              ${" "}and ${money(part.tipInPence, part.currency)} tip</span>`}
            ${part.status !== "SUCCEEDED" && html`<span class="muted small"> after a refund</span>`}</span>
          <span class="row"><${Amount} of=${keptOf(part)} currency=${part.currency} />
            ${part.tenderType === "CASH" && part.status === "SUCCEEDED" && html`
              <${Button} onPress=${() => setReturned(part)}>Take back<//>`}</span>
        </li>`)}
      </ul>
      ${returned && html`<${VoidDialog} payment=${returned} onClose=${() => setReturned(null)}
        takeBack=${(reason, key) => takeBackHere(sale, returned, reason, key)} />`}
    </section>`;
}

/** What was kept: of an order also what the shop knows of other devices. */
function partsOf(sale) {
  const known = new Map(sale.paid.map((one) => [one.id, one]));
  const isOfShop = sale.kind === ORDER && sale.isChecked && sale.basket?.payments.length > 0;
  const listed = isOfShop ? sale.basket.payments : sale.paid;
  return listed.map((one) => ({ ...one, ...known.get(one.id) })).filter(keptOf);
}

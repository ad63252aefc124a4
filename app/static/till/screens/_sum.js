// The sum that is to be paid, and the news that it changed.

import { money } from "../money.js";
import { Amount, Button, Dialog, html } from "../ui.js";

export function Sum({ amount, all, isChecked = true, currency }) {
  return html`
    <div class="sum">
      <p class="label">To pay</p>
      <p><${Amount} of=${amount} currency=${currency} className="amount" /></p>
      ${amount < all && html`<p class="muted">of ${money(all, currency)} due</p>`}
      ${!isChecked && html`<p class="muted small">Not checked by the shop yet</p>`}
    </div>`;
}

export function ChangedDialog({ from, to, currency, onClose }) {
  return html`
    <${Dialog} title="The total changed" onClose=${onClose}
      foot=${html`<${Button} kind="primary" onPress=${onClose}>Show the new total<//>`}>
      <p>The total changed from ${money(from, currency)} to ${money(to, currency)}. Nothing was charged.</p>
    <//>`;
}

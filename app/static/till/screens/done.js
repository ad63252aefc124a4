// The sale is paid: the change, the receipt, and on to the next one.

import { go } from "../navigation.js";
import { endSale } from "../sale.js";
import { useApp } from "../state.js";
import { paidAmount, tenderOf } from "../transaction_words.js";
import { Amount, Button, html, Icon, Problem, Screen, useAction, useEffect } from "../ui.js";
import { OfflineReceipt } from "./_offline_receipt.js";
import { Receipt } from "./_receipt.js";

export default function Done() {
  const { sale } = useApp();
  const [next, isBusy, error] = useAction(async () => { await endSale(sale.id); go("/till"); });
  useEffect(() => {
    if (!sale) go("/till", { replaces: true });
    else if (!sale.isFinished) go("/till/pay", { replaces: true });
  }, [sale]);
  if (!sale?.isFinished) return null;
  const last = sale.paid.at(-1);
  const change = sale.change ?? last?.changeInPence ?? 0;
  const foot = html`<${Button} kind="primary big" isBusy=${isBusy} onPress=${next}>New sale<//>`;
  return html`
    <${Screen} title="Paid" className="done" foot=${foot}>
      <${Problem}>${error}<//>
      <${Summary} sale=${sale} last=${last} change=${change} />
      ${last && html`<${Receipt} key=${last.id} transactionId=${last.id} isShown />`}
      ${sale.offline && html`<${OfflineReceipt} sale=${sale} />`}
    <//>`;
}

function Summary({ sale, last, change }) {
  const sum = sale.offline?.toPay ?? sale.paid.reduce((all, one) => all + paidAmount(one), 0);
  return html`
    <section class="payment-status good" role="status" aria-label="Payment">
      <span class="mark"><${Icon} name="tick" /></span>
      <p class="said">${last?.tenderType === "CARD" ? "Approved" : "Taken"}</p>
      <p><${Amount} of=${sum} currency=${sale.currency} className="total" /></p>
      ${sale.paid.map((one) => html`<p class="muted" key=${one.id}>${tenderOf(one)}</p>`)}
    </section>
    ${change > 0 && html`<div class="sum change"><p class="label">Change</p>
      <p><${Amount} of=${change} currency=${sale.currency} className="amount" /></p></div>`}`;
}

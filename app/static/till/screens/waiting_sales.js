// The log of sales that were made without a network.

import { momentOf } from "../moments.js";
import { money } from "../money.js";
import { dealWith, isUnsent, offlineSales, REFUSED, sendWaiting, SENT, WAITING } from "../offline.js";
import { useApp } from "../state.js";
import { Amount, Button, html, Loading, Note, Problem, Screen, useAction, useEffect, useState } from "../ui.js";

const STATES = { [WAITING]: ["warn", "Waiting"], [SENT]: ["good", "Sent"], [REFUSED]: ["bad", "Needs a look"] };

export default function WaitingSales() {
  const { isOnline, unsent, unsentReason } = useApp();
  const [sales, setSales] = useState(null);
  const load = async () => setSales(await offlineSales());
  const [send, isBusy, error] = useAction(async () => {
    await sendWaiting();
    await load();
  });
  useEffect(() => { load(); }, [unsent, isBusy]);
  const isWaiting = sales?.some(({ state }) => state === WAITING);
  const foot = isWaiting && html`
    <${Button} kind="primary big wide" onPress=${send} isBusy=${isBusy} busy="Sending…"
      disabled=${!isOnline}>Send now<//>`;
  return html`
    <${Screen} title="Waiting sales" back="/till" foot=${foot}>
      <p class="muted">Sales in cash that were made without a network. They are sent by themselves.</p>
      ${isWaiting && !isOnline && html`<${Note} kind="warn">There is no network now.<//>`}
      ${isWaiting && isOnline && unsentReason && html`<${Note} kind="bad">Not sent: ${unsentReason}<//>`}
      <${Problem}>${error}<//>
      ${!sales && html`<${Loading} />`}
      ${sales?.length === 0 && html`<p class="nothing">No sales are waiting.</p>`}
      <ul class="list" aria-label="Sales">
        ${sales?.map((sale) => html`<${Sale} key=${sale.clientSaleId} sale=${sale} onChange=${load} />`)}
      </ul>
    <//>`;
}

function Sale({ sale, onChange }) {
  const [kind, label] = sale.state === REFUSED && sale.isDealtWith ? ["", "Dealt with"] : STATES[sale.state];
  const [settle, isBusy, error] = useAction(async () => {
    await dealWith(sale.clientSaleId);
    await onChange();
  });
  return html`
    <li class="entry">
      <p class="row apart">
        <span><span class="strong">${momentOf(sale.soldAt)}</span> <span class=${`badge ${kind}`}>${label}</span></span>
        <${Amount} of=${sale.toPay} currency=${sale.currency} className="strong" /></p>
      <p class="muted small">${sale.lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(", ")}</p>
      <p class="muted small">
        ${money(sale.tenderedInPence, sale.currency)} received, ${money(sale.change, sale.currency)} change</p>
      ${sale.notes.map(({ code, detail }) => html`<${Note} key=${code} kind="warn">${detail}<//>`)}
      ${sale.problem && html`<${Note} kind="bad">The shop did not book this sale: ${sale.problem.detail}<//>`}
      ${sale.state === REFUSED && isUnsent(sale) && html`
        <p class="small">Ask an admin to enter it by hand. The cash is in the drawer, and in no report.</p>
        <${Problem}>${error}<//>
        <${Button} onPress=${settle} isBusy=${isBusy}>Mark as dealt with<//>`}
    </li>`;
}

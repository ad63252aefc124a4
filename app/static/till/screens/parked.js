// The parked orders: go on with one, name it, discard it.

import { forPeople } from "../failure.js";
import { timeOf } from "../moments.js";
import { money } from "../money.js";
import { go } from "../navigation.js";
import { discardParked, labelParked, park, parkedSales, resume } from "../parked_sales.js";
import { due, endSale, isEmpty, ORDER, QUICK } from "../sale.js";
import { app, useApp } from "../state.js";
import { Button, Dialog, Field, html, Note, Problem, Screen, useAction, useEffect, useState } from "../ui.js";
import { Question } from "./_order_dialogs.js";

const LONGEST_LABEL = 40;

export default function Parked() {
  const { sale } = useApp();
  const [parked, show] = useState(null);
  const [dialog, open] = useState(null); // {kind, sale}
  const reload = async () => show(await parkedSales());
  useEffect(() => { reload(); }, []);
  const close = async () => {
    open(null);
    await reload();
  };
  const [goOn, isBusy, error] = useAction(async (id) => {
    await putAside();
    if (!await resume(id)) {
      await reload();
      throw forPeople("This order is not parked any more.");
    }
    go(app().sale.paid.length ? "/till/pay" : "/till/order", { replaces: true });
  });
  return html`
    <${Screen} title="Parked orders" back="/till/order">
      <${Problem}>${error}<//>
      ${sale?.lines?.length > 0 && html`<${Note}>The order under way is parked when you go on with another one.<//>`}
      ${parked?.length === 0 && html`<p class="nothing">No order is parked.</p>`}
      <ul class="list" aria-label="Parked orders">
        ${(parked ?? []).map((one) => html`<${Order} key=${one.id} sale=${one} isBusy=${isBusy}
          onResume=${() => goOn(one.id)} open=${open} />`)}
      </ul>
    <//>
    ${dialog?.kind === "name" && html`<${Name} sale=${dialog.sale} onClose=${close} />`}
    ${dialog?.kind === "discard" && html`<${Discard} sale=${dialog.sale} onClose=${close} />`}`;
}

function Discard({ sale, onClose }) {
  const discard = async () => {
    await discardParked(sale.id);
    await onClose();
  };
  return html`<${Question} title="Discard this order?" verb="Discard" onConfirm=${discard} onClose=${onClose}>
    ${contents(sale)}: it is forgotten. Nothing was charged.<//>`;
}

/** Make room for another order: park the one under way, or leave it where there is nothing in it. */
async function putAside() {
  const { sale } = app();
  if (!sale) return;
  if (sale.kind !== ORDER || sale.paid.length || sale.isFinished) {
    throw forPeople("Finish the sale under way first.");
  }
  if (isEmpty(sale)) await endSale(sale.id, isEmpty);
  else await park(sale.label ?? null);
}

function Order({ sale, isBusy, onResume, open }) {
  const name = sale.label || contents(sale);
  return html`<li class="entry" aria-label=${name}>
    <div class="between"><span class="strong">${name}</span>
      <span class="strong n">${money(due(sale).amount, sale.currency)}</span></div>
    <p class="muted small">${sale.label ? `${contents(sale)} · ` : ""}${timeOf(sale.parkedAt)}</p>
    <div class="row apart">
      <span class="row">
        <${Button} kind="quiet" onPress=${() => open({ kind: "name", sale })}>Name<//>
        <${Button} kind="quiet danger" onPress=${() => open({ kind: "discard", sale })}>Discard<//>
      </span>
      <${Button} kind="primary" isBusy=${isBusy} onPress=${onResume}>Resume<//>
    </div>
  </li>`;
}

/** "Enamel camp mug and 2 more" */
function contents({ kind, description, lines, unresolved }) {
  if (kind === QUICK) return description || "Quick payment";
  const [first, ...more] = [...lines.map((line) => line.name), ...unresolved.map((code) => `Code ${code}`)];
  return more.length ? `${first} and ${more.length} more` : first;
}

function Name({ sale, onClose }) {
  const [label, setLabel] = useState(sale.label ?? "");
  const [save, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    await labelParked(sale.id, label.trim() || null);
    await onClose();
  });
  return html`<${Dialog} title="Name the order" onClose=${onClose}>
    <form class="stack" onSubmit=${save}>
      <${Field} label="Name" id="label" value=${label} onInput=${setLabel} maxlength=${LONGEST_LABEL} autocomplete="off"
        help="Something to know it by: a name, a table, a coat." />
      <${Problem}>${error}<//>
      <${Button} type="submit" kind="primary big" isBusy=${isBusy}>Save<//>
    </form>
  <//>`;
}

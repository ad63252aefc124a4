import { go } from "../navigation.js";
import { forgetNotice, useApp } from "../state.js";
import { money } from "../money.js";
import { due, startOrder } from "../sale.js";
import { Button, html, Icon, Note, Problem, Screen, useAction, useEffect } from "../ui.js";

const LINKS = [
  ["/till/transactions", "list", "Transactions"],
  ["/till/session", "clock", "Session"],
  ["/till/settings", "gear", "Settings"],
  ["/till/help", "help", "Help"],
];

export function Start() {
  const { location, configuration, sale, payment, isOnline, isTraining, unsent, notice } = useApp();
  useEffect(() => forgetNotice, []);
  const [order, isBusy, error] = useAction(async () => {
    if (!sale) await startOrder();
    go("/till/order");
  });
  const may = configuration?.permissions ?? {};
  const isTaken = !location || Boolean(sale ?? payment);
  const reach = isOnline ? "Online" : "Offline";
  const waiting = `${unsent === 1 ? "1 sale" : `${unsent} sales`} waiting`;
  return html`
    <${Screen} title=${location?.displayName ?? "No location"} className="start"
      aside=${html`<p class=${`badge ${isOnline ? "good" : "warn"}`} role="status" aria-label=${reach}>${reach}</p>`}>
      ${notice && html`<${Note}>${notice}<//>`}
      <${Problem}>${error}<//>
      ${!location && html`<${Note} kind="warn">You are assigned to no location yet. An admin assigns you under Mobile
        POS, Agents.<//>`}
      ${payment && html`<${Note} kind="warn">A payment is not final yet. A new sale begins once it is.<//>`}
      ${sale && html`<${SaleUnderWay} sale=${sale} payment=${payment} />`}
      ${!isOnline && !isTraining && may.quickPayments !== false && html`<${Note} kind="warn">There is no network. Quick
        payments need one; orders can be paid in cash.<//>`}
      <div class="choices">
        ${may.quickPayments !== false && html`<${Button} kind="primary huge" icon="card" disabled=${isTaken}
          onPress=${() => go("/till/quick")}>Quick payment<//>`}
        ${may.orders !== false && html`<${Button} kind="huge" icon="basket" disabled=${isTaken} isBusy=${isBusy}
          onPress=${order}>New order<//>`}
      </div>
      ${sale && !payment && html`<p class="muted small">
        ${sale.kind === "ORDER" && !sale.paid.length ? "Finish or park" : "Finish"} the sale under way first.</p>`}
      ${unsent > 0 && html`<p role="status" aria-label=${waiting}>
        <a class="waiting" href="/till/waiting">${waiting}</a></p>`}
      <nav class="links" aria-label="More">
        ${LINKS.map(([path, icon, name]) => html`
          <a key=${path} href=${path}><${Icon} name=${icon} /><span>${name}</span></a>`)}
      </nav>
    <//>`;
}

function SaleUnderWay({ sale, payment }) {
  const isPaying = payment || sale.paid.length || sale.kind !== "ORDER";
  const path = sale.isFinished ? "/till/done" : isPaying ? "/till/pay" : "/till/order";
  return html`<a class="card link" href=${path}>
    <span class="strong">Go on with the sale</span>
    <span class="n">${standOf(sale)}</span></a>`;
}

function standOf(sale) {
  if (sale.isFinished) return "Paid";
  if (sale.kind === "ORDER" && !sale.lines.length) return "Empty";
  return money(due(sale).amount, sale.currency);
}

// What stays at the bottom of the order: its total, and what is done with it.

import { forPeople } from "../failure.js";
import { money } from "../money.js";
import { go } from "../navigation.js";
import { checkOrder } from "../order_check.js";
import { park } from "../parked_sales.js";
import { shownTotal } from "../sale.js";
import { app } from "../state.js";
import { Button, html, Problem, useAction } from "../ui.js";

export function Foot({ sale, said, onSaid, open, isLocked, mayDiscount }) {
  const [charge, isCharging, error] = useAction(() => chargeOrder(open));
  const [parkOrder, isParking, parkError] = useAction(async () => {
    await park(null);
    onSaid("Order parked.");
  });
  const isEmpty = !sale.lines.length && !sale.unresolved.length;
  const isFixed = isEmpty || isLocked;
  return html`
    <p role="status"><span class=${said.words ? "order-said" : "unseen"} key=${said.times}>${said.words}</span></p>
    <${Problem}>${error ?? parkError ?? sale.problem}<//>
    <${Total} sale=${sale} isEmpty=${isEmpty} />
    <div class="order-buttons">
      <${Button} icon="park" disabled=${isFixed} isBusy=${isParking} onPress=${parkOrder}>Park<//>
      ${mayDiscount && html`<${Button} disabled=${isFixed} onPress=${() => open({ kind: "discount" })}>Discount<//>`}
      <${Button} kind="primary big" disabled=${isEmpty} isBusy=${isCharging} busy="Checking…" onPress=${charge}>
        Charge<//>
    </div>`;
}

function Total({ sale, isEmpty }) {
  const { currency, discount } = sale;
  const isChecked = sale.isChecked && Boolean(sale.basket);
  const total = isChecked ? sale.basket.total : shownTotal(sale);
  return html`
    ${discount > 0 && html`<div class="between">
      <span>Discount</span><span class="n">${money(-discount, currency)}</span></div>`}
    <div class="between">
      <span class="strong">Total <span class="muted small">${counted(sale)}</span></span>
      <span><span class="muted small">${isEmpty || isChecked ? "" : "not checked yet "}</span>
        <span class="total">${money(total, currency)}</span></span>
    </div>`;
}

function counted({ lines }) {
  const many = lines.reduce((sum, line) => sum + line.quantity, 0);
  if (many === 0) return "";
  return many === 1 ? "1 item" : `${many} items`;
}

/** Have the shop check the order, show what it changed, and go on to the payment. */
async function chargeOrder(open) {
  const { unresolved } = app().sale;
  if (unresolved.length) {
    throw forPeople(`Find or remove the code ${unresolved[0]} first: it is not known what it stands for.`);
  }
  try {
    await checkOrder();
  } catch (error) {
    // The shop cannot check the order now; cash may still be taken.
    if (!error.isUncertain && error.code !== "offline" && error.status !== 429) throw error;
  }
  if (app().sale.lines.some((line) => line.was !== undefined)) open({ kind: "prices" });
  else go("/till/pay");
}

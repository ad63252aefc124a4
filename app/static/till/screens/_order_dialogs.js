// Questions about the order: a discount, prices that changed, throwing it away.

import { amountText, money, parseMoney } from "../money.js";
import { go } from "../navigation.js";
import { checkOrder, discardOrder } from "../order_check.js";
import { acceptPrices, setDiscount } from "../order_lines.js";
import { Button, Dialog, Field, html, Problem, useAction, useRef, useState } from "../ui.js";
import { ChooseVariant } from "./_choose_variant.js";
import { Scan } from "./_scan.js";

/** The dialog that is open: `dialog` is {kind, …} or null. */
export function OrderDialog({ dialog, sale, said, onChoose, onScan, close }) {
  const discard = async () => {
    await discardOrder(sale.id);
    close();
  };
  switch (dialog?.kind) {
    case "variant": return html`<${ChooseVariant} product=${dialog.product} onClose=${close}
      onChoose=${(product, variant, quantity) => onChoose(product, variant, quantity, dialog.code)} />`;
    case "scan": return html`<${Scan} said=${said} onScan=${onScan} onClose=${close} />`;
    case "discount": return html`<${Discount} sale=${sale} onClose=${close} />`;
    case "prices": return html`<${ChangedPrices} sale=${sale} onCharge=${() => go("/till/pay")} onClose=${close} />`;
    case "discard": return html`
      <${Question} title="Discard the order?" verb="Discard" onConfirm=${discard} onClose=${close}>
      What is in it is forgotten. Nothing was charged.<//>`;
    default: return null;
  }
}

function Discount({ sale, onClose }) {
  const [typed, setTyped] = useState(sale.discount ? amountText(sale.discount, sale.currency) : "");
  const [problem, setProblem] = useState(null);
  const form = useRef(null);
  const [apply, isBusy, refused] = useAction(async (event) => {
    event.preventDefault();
    const amount = typed.trim() ? parseMoney(typed, sale.currency) : 0;
    const refusal = amount === null ? "Write an amount, like 2.50." : await tryDiscount(amount, sale);
    setProblem(refusal);
    if (refusal) form.current.querySelector("input").focus();
    else onClose();
  });
  return html`<${Dialog} title="Discount on the order" onClose=${onClose}>
    <form class="stack" ref=${form} onSubmit=${apply} novalidate>
      <${Field} label="Discount" id="discount" inputmode="decimal" autocomplete="off" value=${typed} onInput=${setTyped}
        error=${problem} help="An amount off the whole order. Leave it empty for none." />
      <${Problem}>${refused}<//>
      <${Button} type="submit" kind="primary big" isBusy=${isBusy} busy="Checking…">Apply<//>
    </form>
  <//>`;
}

/** Set the discount; one that the shop refuses is taken off again, and the reason returned. */
async function tryDiscount(amount, { discount, currency }) {
  await setDiscount(amount);
  const error = await checkOrder().then(() => null, (failure) => failure);
  if (error?.code !== "discount_exceeds_subtotal") return null; // Anything else is said of the order itself.
  await setDiscount(discount);
  return `The goods come to ${money(error.problem.maxDiscount, currency)}; a discount cannot be more.`;
}

/** The prices that the shop changed since they were shown. */
function ChangedPrices({ sale, onCharge, onClose }) {
  const changed = sale.lines.filter((line) => line.was !== undefined);
  const [accept, isBusy, error] = useAction(async () => {
    await acceptPrices();
    onCharge();
  });
  return html`<${Dialog} title="Prices changed" onClose=${onClose} foot=${html`
    <${Button} onPress=${onClose}>Back to the order<//>
    <${Button} kind="primary" isBusy=${isBusy} onPress=${accept}>Use the new prices<//>`}>
    <p>Since these were shown, the shop changed:</p>
    <ul class="list">${changed.map(({ skuCode, name, was, unitPrice }) => html`
      <li key=${skuCode} class="between changed">
        <span class="strong">${name}</span>
        <span><s class="muted n">${money(was, sale.currency)}</s>
          <span class="strong n"> ${money(unitPrice, sale.currency)}</span></span>
      </li>`)}</ul>
    ${sale.basket && html`<p class="between"><span class="strong">New total</span>
      <span class="total">${money(sale.basket.total, sale.currency)}</span></p>`}
    <${Problem}>${error}<//>
  <//>`;
}

/** A question before something is thrown away. */
export function Question({ title, children, verb, onConfirm, onClose }) {
  const [confirm, isBusy, error] = useAction(onConfirm);
  return html`<${Dialog} title=${title} onClose=${onClose} foot=${html`
    <${Button} onPress=${onClose}>Keep it<//>
    <${Button} kind="danger" isBusy=${isBusy} onPress=${confirm}>${verb}<//>`}>
    <p>${children}</p>
    <${Problem}>${error}<//>
  <//>`;
}

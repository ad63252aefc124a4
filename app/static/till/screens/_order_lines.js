// The lines of the order, and the codes that are not resolved yet.

import { money } from "../money.js";
import { dropUnresolved, MOST_OF_ONE, setQuantity, stepQuantity } from "../order_lines.js";
import { Button, html, Icon, sentence, useState } from "../ui.js";
import { Picture } from "./_product_list.js";

/** `reasons`: by code, why it is not resolved; `looking`: the codes that are being looked up. */
export function OrderLines({ sale, isLocked, reasons, looking, onFind, onSaid }) {
  /** Another tab may have ended the order, or begun to have it paid. */
  const change = (done, words) => done.then(() => words && onSaid(words), (error) => onSaid(sentence(error)));
  return html`<ul class="lines" aria-label="Order">
    ${sale.unresolved.map((code, place) => html`<${Unresolved} key=${`${code} ${place}`} code=${code}
      reason=${reasons[code]} isBusy=${looking.includes(code)} onFind=${() => onFind(code)} change=${change} />`)}
    ${sale.lines.map((line) => html`<${Line} key=${line.skuCode} line=${line} currency=${sale.currency}
      isLocked=${isLocked} change=${change} />`)}
  </ul>`;
}

function Unresolved({ code, reason, isBusy, onFind, change }) {
  return html`<li class="line unresolved" aria-label=${`Code ${code}`}>
    <div class="line-name"><span class="strong">Code <span class="n">${code}</span></span>
      <span class="small">${isBusy ? "Looking it up…" : reason ?? "It is not known yet what this is."}</span></div>
    <div class="line-buttons">
      <${Button} kind="quiet danger" onPress=${() => change(dropUnresolved(code))}>Remove<//>
      <${Button} icon="search" isBusy=${isBusy} onPress=${onFind}>Find it<//>
    </div>
  </li>`;
}

function Line({ line, currency, isLocked, change }) {
  const { name, options, quantity, unitPrice, image, was, problem } = line;
  const chosen = Object.entries(options ?? {}).map(([option, value]) => `${option}: ${value}`).join(", ");
  const remove = () => change(setQuantity(line.skuCode, 0), `${name} removed.`);
  return html`<li class=${`line ${problem ? "wrong" : ""}`} aria-label=${name}>
    <${Picture} of=${image} />
    <div class="line-name"><span class="strong">${name}</span>
      ${chosen && html`<span class="muted small">${chosen}</span>`}
      ${(quantity > 1 || was !== undefined) && html`<span class="small">
        <span class="muted n">${money(unitPrice, currency)} each</span>
        ${was !== undefined && html` <span class="was">was ${money(was, currency)}</span>`}</span>`}</div>
    <span class="strong n line-total">${money(unitPrice * quantity, currency)}</span>
    ${problem && html`<p class="error line-problem" role="alert">${problem}</p>`}
    ${isLocked
      ? html`<p class="muted small line-buttons">${quantity}</p>`
      : html`<div class="line-buttons">
          <${Button} kind="quiet danger" onPress=${remove}>Remove<//>
          <${Stepper} line=${line} change=${change} />
        </div>`}
  </li>`;
}

function Stepper({ line, change }) {
  const [typed, setTyped] = useState(null);
  const step = (by) => change(stepQuantity(line.skuCode, by));
  const set = (event) => {
    const wanted = Number(event.target.value);
    setTyped(null);
    if (Number.isInteger(wanted) && wanted > 0 && wanted !== line.quantity) {
      change(setQuantity(line.skuCode, wanted));
    } else event.target.value = line.quantity;
  };
  return html`<div class="stepper">
    <button type="button" class="btn" aria-label="Fewer" disabled=${line.quantity <= 1} onClick=${() => step(-1)}>
      <${Icon} name="minus" /></button>
    <input class="n" inputmode="numeric" aria-label="Quantity" value=${typed ?? line.quantity} maxlength="2"
      onFocus=${(event) => event.target.select()} onInput=${(event) => setTyped(event.target.value)} onChange=${set} />
    <button type="button" class="btn" aria-label="More" disabled=${line.quantity >= MOST_OF_ONE}
      onClick=${() => step(1)}><${Icon} name="plus" /></button>
  </div>`;
}

// The lines of the order, and the codes that are not resolved yet.

import { money } from "../money.js";
import { dropUnresolved, MOST_OF_ONE, setQuantity, stepQuantity } from "../order_lines.js";
import { due } from "../sale.js";
import { useApp } from "../state.js";
import { Button, html, Icon, sentence, useEffect, useRef, useState } from "../ui.js";
import { Picture } from "./_product_list.js";

/** `reasons`: by code, why it is not resolved; `looking`: the codes that are being looked up. */
export function OrderLines({ sale, isLocked, reasons, looking, onFind, onSaid }) {
  /** Another tab may have ended the order, or begun to have it paid. */
  const change = (done, words) => done.then(() => words && onSaid(words), (error) => {
    removed.current = null;
    onSaid(sentence(error));
  });
  const list = useRef(null);
  const removed = useRef(null); // The place of the line that was just removed, for the next one to have the focus.
  const [spoken, speak] = useSpokenTotal(sale);
  useEffect(() => {
    if (removed.current === null) return;
    const buttons = list.current.querySelectorAll(".line:not(.unresolved) .danger");
    buttons[Math.min(removed.current, buttons.length - 1)]?.focus({ preventScroll: true });
    removed.current = null;
  }, [sale.lines.length]);
  return html`
    <p class="unseen" role="status">${spoken}</p>
    <ul class="lines" aria-label="Order" ref=${list}>
    ${sale.unresolved.map((code, place) => html`<${Unresolved} key=${`${code} ${place}`} code=${code}
      reason=${reasons[code]} isBusy=${looking.includes(code)} onFind=${() => onFind(code)} change=${change} />`)}
    ${sale.lines.map((line, place) => html`<${Line} key=${line.skuCode} line=${line} currency=${sale.currency}
      isLocked=${isLocked} change=${change} onRemove=${() => { removed.current = place; }}
      onStep=${() => speak(line.skuCode)} />`)}
  </ul>`;
}

/** What a screen reader says of a changed quantity, once the total is known again: `[sentence, note(skuCode)]`. */
function useSpokenTotal(sale) {
  const { isOnline } = useApp();
  const changed = useRef(null);
  const [spoken, speak] = useState("");
  useEffect(() => {
    const line = sale.lines.find(({ skuCode }) => skuCode === changed.current);
    if (!line || (isOnline && !sale.isChecked)) return;
    changed.current = null;
    speak(`${line.quantity} × ${line.name}, total ${money(due(sale).amount, sale.currency)}`);
  }, [sale, isOnline]);
  return [spoken, (skuCode) => { changed.current = skuCode; }];
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

function Line({ line, currency, isLocked, change, onRemove, onStep }) {
  const { name, options, quantity, unitPrice, image, was, problem } = line;
  const chosen = Object.entries(options ?? {}).map(([option, value]) => `${option}: ${value}`).join(", ");
  const remove = () => {
    onRemove();
    return change(setQuantity(line.skuCode, 0), `${name} removed.`);
  };
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
          <${Stepper} line=${line} change=${change} onStep=${onStep} />
        </div>`}
  </li>`;
}

function Stepper({ line, change, onStep }) {
  const [typed, setTyped] = useState(null);
  const step = (by) => {
    if (by < 0 ? line.quantity <= 1 : line.quantity >= MOST_OF_ONE) return undefined;
    onStep();
    return change(stepQuantity(line.skuCode, by));
  };
  const set = (event) => {
    const wanted = Number(event.target.value);
    setTyped(null);
    if (Number.isInteger(wanted) && wanted > 0 && wanted !== line.quantity) {
      change(setQuantity(line.skuCode, wanted));
    } else event.target.value = line.quantity;
  };
  return html`<div class="stepper">
    <button type="button" class="btn" aria-label="Fewer" aria-disabled=${line.quantity <= 1 ? "true" : undefined}
      onClick=${() => step(-1)}>
      <${Icon} name="minus" /></button>
    <input class="n" inputmode="numeric" aria-label="Quantity" value=${typed ?? line.quantity} maxlength="2"
      onFocus=${(event) => event.target.select()} onInput=${(event) => setTyped(event.target.value)} onChange=${set} />
    <button type="button" class="btn" aria-label="More"
      aria-disabled=${line.quantity >= MOST_OF_ONE ? "true" : undefined}
      onClick=${() => step(1)}><${Icon} name="plus" /></button>
  </div>`;
}

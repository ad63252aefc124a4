// The dialog in which one of a product's variants is chosen, and how many of it.

import { readProduct, stockOf } from "../catalogue.js";
import { MOST_OF_ONE } from "../order_lines.js";
import { Amount, Button, Dialog, Field, html, Problem, useAction, useEffect, useState } from "../ui.js";

/** `onChoose(product, variant, quantity)`. */
export function ChooseVariant({ product: known, onChoose, onClose }) {
  const [product, setProduct] = useState(known);
  const [chosen, choose] = useState({});
  const [quantity, setQuantity] = useState("1");
  const [problem, setProblem] = useState(null);
  // Its prices and stock may have been loaded a while ago.
  useEffect(() => { readProduct(known.skuCode).then(setProduct, () => {}); }, []);
  const names = [...new Set(product.variants.flatMap((variant) => Object.keys(variant.options)))];
  const variant = product.variants.find((one) => names.every((name) => one.options[name] === chosen[name]));
  const [add, isBusy, refused] = useAction(async () => {
    const many = /^\d+$/.test(quantity) ? Number(quantity) : 0;
    const missing = names.filter((name) => !chosen[name]).join(" and ").toLowerCase();
    if (!variant) setProblem(`Choose ${missing || "another one"}.`);
    else if (!variant.inStock) setProblem("This one is sold out.");
    else if (!(many >= 1 && many <= MOST_OF_ONE)) setProblem(`Choose a number from 1 to ${MOST_OF_ONE}.`);
    else await onChoose(product, variant, many);
  });
  return html`<${Dialog} title=${product.name} onClose=${onClose}
    foot=${html`<${Button} kind="primary big wide" isBusy=${isBusy} onPress=${add}>Add to the order<//>`}>
    ${names.map((name) => html`<${Option} key=${name} name=${name} product=${product} chosen=${chosen}
      onChoose=${(value) => { setProblem(null); choose({ ...chosen, [name]: value }); }} />`)}
    <${Field} label="Quantity" id="variant-quantity" inputmode="numeric" maxlength="2" value=${quantity}
      onInput=${setQuantity} />
    <p class="between" aria-live="polite">${variant && html`
      <span class="total"><${Amount} of=${variant.price} currency=${product.currency} /></span>
      <${Stock} of=${variant} />`}</p>
    <${Problem}>${problem ?? refused}<//>
  <//>`;
}

function Option({ name, product, chosen, onChoose }) {
  const values = new Set(product.variants.map((variant) => variant.options[name]));
  return html`<fieldset class="options"><legend class="label">${name}</legend>
    ${[...values].filter((value) => value !== undefined).map((value) => {
      const isLeft = isInStock(product, { ...chosen, [name]: value });
      return html`<label key=${value} class=${`option ${isLeft ? "" : "gone"}`}>
        <input type="radio" name=${name} value=${value} checked=${chosen[name] === value}
          onChange=${() => onChoose(value)} />
        <span>${value}${!isLeft && html` <span class="small">Sold out</span>`}</span></label>`;
    })}
  </fieldset>`;
}

/** Whether any variant that has all these options is left. */
function isInStock(product, options) {
  return product.variants.some((variant) => variant.inStock
    && Object.entries(options).every(([name, value]) => variant.options[name] === value));
}

function Stock({ of }) {
  const stock = stockOf(of);
  return stock && html`<span class=${`stock ${stock.kind}`}>${stock.words}</span>`;
}

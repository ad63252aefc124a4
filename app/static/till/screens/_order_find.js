// What stands above the order: the search, the scanner, the way to the parked orders.

import { go } from "../navigation.js";
import { parkedSales } from "../parked_sales.js";
import { Button, html, Icon, useEffect, useState } from "../ui.js";

export function Find({ adding, open, isBrowsing, browse, hasOrder }) {
  const { words, setWords, field, enter } = adding;
  const submit = (event) => {
    event.preventDefault();
    enter();
  };
  const change = () => {
    setWords("");
    browse(!isBrowsing);
  };
  return html`<form class="order-find" role="search" onSubmit=${submit}>
    <input type="search" ref=${field} aria-label="Find a product" placeholder="Find a product" autocomplete="off"
      enterkeyhint="search" value=${words} onInput=${(event) => setWords(event.target.value)} />
    <button type="button" class="btn" aria-label="Scan a barcode" title="Scan a barcode"
      onClick=${() => open({ kind: "scan" })}><${Icon} name="scan" /></button>
    ${hasOrder && html`<${Button} kind="order-switch" icon=${isBrowsing ? "basket" : "list"} onPress=${change}>
      ${isBrowsing ? "Order" : "Browse"}<//>`}
  </form>`;
}

export function ParkedLink({ sale }) {
  const [many, count] = useState(0);
  useEffect(() => { parkedSales().then((sales) => count(sales.length)); }, [sale.id]);
  return html`<${Button} kind="quiet" onPress=${() => go("/till/parked")}>
    Parked orders${many > 0 && html`<span class="count" aria-hidden="true">${many}</span>`}<//>`;
}

// The order is put together: found, scanned or browsed for; parked; charged.

import { money } from "../money.js";
import { go } from "../router.js";
import { checkOrder, due, endSale, ORDER, park, parkedSales } from "../sale.js";
import { addProduct } from "../scans.js";
import { readProduct } from "../catalogue.js";
import { followScanner } from "../scanner/wedge.js";
import { app, useApp } from "../state.js";
import { pricesAsOf } from "../stored_products.js";
import { Button, html, Icon, Note, Problem, Screen, useAction, useEffect, useRef, useState } from "../ui.js";
import { ChooseVariant } from "./_choose_variant.js";
import { ChangedPrices, Discount, Question } from "./_order_dialogs.js";
import { OrderLines } from "./_order_lines.js";
import { Picker } from "./_picker.js";
import { Scan } from "./_scan.js";
import { useScans } from "./_use_scans.js";

const NO_ORDER = { lines: [], unresolved: [], discount: 0, paid: [], basket: null, isChecked: true, problem: null };
const UNKNOWN = ["offline", "no_answer"]; // The shop cannot check the order now; cash may still be taken.

export default function Order() {
  const state = useApp();
  const isOther = Boolean(state.sale) && (state.sale.kind !== ORDER || state.sale.isFinished);
  useEffect(() => { if (isOther) go(state.sale.isFinished ? "/till/done" : "/till/pay", { replaces: true }); }, [isOther]);
  useEffect(() => leaveNothingEmpty, []);
  return isOther ? null : html`<${OrderScreen} ...${state} sale=${state.sale ?? { ...NO_ORDER, currency: state.configuration?.currency ?? "gbp" }} />`;
}

/** An order without anything in it would keep a quick payment from being begun. */
function leaveNothingEmpty() {
  const { sale } = app();
  if (sale?.kind === ORDER && !sale.lines.length && !sale.unresolved.length && !sale.paid.length && !sale.isFinished) endSale();
}

function OrderScreen({ sale, agent, isOnline }) {
  const [words, setWords] = useState("");
  const [isBrowsing, browse] = useState(false);
  const [dialog, open] = useState(null); // {kind, …}
  const [said, setSaid] = useState({ words: "", times: 0 });
  const say = (what) => setSaid(({ times }) => ({ words: what, times: times + 1 }));
  const search = useRef(null);
  const found = useRef([]);
  const isEmpty = !sale.lines.length && !sale.unresolved.length;
  const isLocked = sale.paid.length > 0;
  const scans = useScans({ onSaid: say, onChoose: (product, code) => open((now) => now ?? { kind: "variant", product, code }) });
  useEffect(() => followScanner(scans.take), []);

  const added = (product, quantity = 1) => {
    say(`${quantity > 1 ? `${quantity} × ` : ""}${product.name} added.`);
    setWords((now) => (now === words ? "" : now)); // The next ones may be typed already.
    scans.setWanted(null);
  };
  const [pick, , pickError] = useAction(async (product, event) => {
    const whole = product.variants ? product : await readProduct(product.skuCode);
    if (whole.variants.length) open({ kind: "variant", product: whole, code: scans.wanted });
    else {
      await addProduct(whole, null, 1, scans.wanted);
      added(whole);
      // A keyboard goes on in the field; on a phone that would bring up its own keyboard.
      if (event?.detail === 0) search.current?.focus();
    }
  });
  const choose = async (product, variant, quantity) => {
    await addProduct(product, variant, quantity, dialog.code);
    open(null);
    added(product, quantity);
  };
  const find = async (code) => {
    if (await scans.resolve(code)) return;
    scans.setWanted(code);
    search.current?.focus();
  };
  const isPicking = words !== "" || isBrowsing || isEmpty || scans.wanted !== null;
  return html`
    <${Screen} title="Order" back="/till" className=${`order ${isPicking ? "picking" : ""} ${words ? "searching" : ""}`}
      aside=${html`<${ParkedLink} sale=${sale} />`}
      foot=${html`<${Foot} sale=${sale} said=${said} open=${open} isLocked=${isLocked} mayDiscount=${agent?.canDiscount === true} onSaid=${say} />`}>
      ${isLocked && html`<${Note}>A part of this order is paid, so it stays as it is.<//>`}
      ${!isLocked && html`<${Find} words=${words} setWords=${setWords} field=${search} onScan=${() => open({ kind: "scan" })}
        onEnter=${() => enter(words, found.current, { pick, scans, setWords })} isBrowsing=${isBrowsing} browse=${browse} hasOrder=${!isEmpty} />`}
      ${scans.wanted && html`<${Note} kind="warn">Choose the product with the code <b class="n">${scans.wanted}</b>.
        <${Button} kind="quiet" onPress=${() => scans.setWanted(null)}>Not now<//><//>`}
      <${Problem}>${pickError}<//>
      ${!isLocked && html`<section class="order-picker" aria-label="Products">
        <${Picker} words=${words} onPick=${pick} onFound=${(products) => { found.current = products; }} /></section>`}
      <section class="order-contents" aria-label="Contents of the order">
        ${!isOnline && html`<${OldPrices} />`}
        ${isEmpty && html`<p class="nothing">Nothing in this order yet.</p>`}
        <${OrderLines} sale=${sale} isLocked=${isLocked} reasons=${scans.reasons} looking=${scans.looking} onFind=${find} onSaid=${say} />
        ${!isEmpty && !isLocked && html`<${Button} kind="quiet danger" onPress=${() => open({ kind: "discard" })}>Discard the order<//>`}
      </section>
    <//>
    <${OpenDialog} dialog=${dialog} sale=${sale} said=${said} onChoose=${choose} onScan=${scans.take} close=${() => open(null)} />`;
}

/** Enter in the field: a code is looked up, a single product found is added. */
function enter(words, found, { pick, scans, setWords }) {
  if (/^\d{8,14}$/.test(words.trim())) {
    setWords("");
    scans.take(words.trim());
  } else if (found.length === 1 && found[0].inStock) pick(found[0], { detail: 0 });
}

function Find({ words, setWords, field, onScan, onEnter, isBrowsing, browse, hasOrder }) {
  return html`<form class="order-find" role="search" onSubmit=${(event) => { event.preventDefault(); onEnter(); }}>
    <input type="search" ref=${field} aria-label="Find a product" placeholder="Find a product" autocomplete="off" enterkeyhint="search"
      value=${words} onInput=${(event) => setWords(event.target.value)} />
    <button type="button" class="btn" aria-label="Scan a barcode" title="Scan a barcode" onClick=${onScan}><${Icon} name="scan" /></button>
    ${hasOrder && html`<${Button} kind="order-switch" icon=${isBrowsing ? "basket" : "list"} onPress=${() => { setWords(""); browse(!isBrowsing); }}>
      ${isBrowsing ? "Order" : "Browse"}<//>`}
  </form>`;
}

function ParkedLink({ sale }) {
  const [many, count] = useState(0);
  useEffect(() => { parkedSales().then((sales) => count(sales.length)); }, [sale.id]);
  return html`<${Button} kind="quiet" onPress=${() => go("/till/parked")}>Parked orders${many > 0 && html`<span class="count" aria-hidden="true">${many}</span>`}<//>`;
}

function OldPrices() {
  const [time, show] = useState(null);
  useEffect(() => { pricesAsOf().then(show); }, []);
  return html`<${Note} kind="warn">${time ? `Prices as of ${time}; checked again before paying.` : "Prices are the last known; checked again before paying."}<//>`;
}

function Foot({ sale, said, open, isLocked, mayDiscount, onSaid }) {
  const [charge, isCharging, error] = useAction(chargeOrder(open));
  const [parkOrder, isParking, parkError] = useAction(async () => {
    await park(null);
    onSaid("Order parked.");
  });
  const isEmpty = !sale.lines.length && !sale.unresolved.length;
  const isChecked = sale.isChecked && Boolean(sale.basket);
  const total = isChecked ? sale.basket.total : due({ ...sale, kind: ORDER, isChecked: false }).amount;
  return html`
    <p role="status"><span class=${said.words ? "order-said" : "unseen"} key=${said.times}>${said.words}</span></p>
    <${Problem}>${error ?? parkError ?? sale.problem}<//>
    ${sale.discount > 0 && html`<div class="between"><span>Discount</span><span class="n">${money(-sale.discount, sale.currency)}</span></div>`}
    <div class="between"><span class="strong">Total <span class="muted small">${counted(sale)}</span></span>
      <span><span class="muted small">${isEmpty || isChecked ? "" : "not checked yet "}</span><span class="total">${money(total, sale.currency)}</span></span></div>
    <div class="order-buttons">
      <${Button} icon="park" disabled=${isEmpty || isLocked} isBusy=${isParking} onPress=${parkOrder}>Park<//>
      ${mayDiscount && html`<${Button} disabled=${isEmpty || isLocked} onPress=${() => open({ kind: "discount" })}>Discount<//>`}
      <${Button} kind="primary big" disabled=${isEmpty} isBusy=${isCharging} busy="Checking…" onPress=${charge}>Charge<//>
    </div>`;
}

function counted({ lines }) {
  const many = lines.reduce((sum, line) => sum + line.quantity, 0);
  return many === 0 ? "" : many === 1 ? "1 item" : `${many} items`;
}

/** Have the shop check the order, show what it changed, and go on to the payment. */
function chargeOrder(open) {
  return async () => {
    const { unresolved } = app().sale;
    if (unresolved.length) throw refusal(`Find or remove the code ${unresolved[0]} first: it is not known what it stands for.`);
    try {
      await checkOrder();
    } catch (error) {
      if (!UNKNOWN.includes(error.code)) throw error;
    }
    if (app().sale.lines.some((line) => line.was !== undefined)) open({ kind: "prices" });
    else go("/till/pay");
  };
}

function refusal(message) { return Object.assign(new Error(message), { isForPeople: true }); }

function OpenDialog({ dialog, sale, said, onChoose, onScan, close }) {
  switch (dialog?.kind) {
    case "variant": return html`<${ChooseVariant} product=${dialog.product} onChoose=${onChoose} onClose=${close} />`;
    case "scan": return html`<${Scan} said=${said.words} onScan=${onScan} onClose=${close} />`;
    case "discount": return html`<${Discount} sale=${sale} onClose=${close} />`;
    case "prices": return html`<${ChangedPrices} sale=${sale} onCharge=${() => go("/till/pay")} onClose=${close} />`;
    case "discard": return html`<${Question} title="Discard the order?" verb="Discard" onConfirm=${async () => { await endSale(); close(); }}
      onClose=${close}>What is in it is forgotten. Nothing was charged.<//>`;
    default: return null;
  }
}

// The order is put together: found, scanned or browsed for; parked; charged.

import { ApiError } from "../api.js";
import { readProduct } from "../catalogue.js";
import { go } from "../navigation.js";
import { endSale, isEmpty, ORDER } from "../sale.js";
import { addProduct } from "../scans.js";
import { followScanner } from "../scanner/wedge.js";
import { app, useApp } from "../state.js";
import { pricesAsOf } from "../stored_products.js";
import { Button, html, Note, Problem, Screen, useAction, useEffect, useRef, useState } from "../ui.js";
import { OrderDialog } from "./_order_dialogs.js";
import { Find, ParkedLink } from "./_order_find.js";
import { Foot } from "./_order_foot.js";
import { OrderLines } from "./_order_lines.js";
import { Picker } from "./_picker.js";
import { useScans } from "./_use_scans.js";

const NOTHING = { lines: [], unresolved: [], discount: 0, paid: [], basket: null, isChecked: true, problem: null };

export default function Order() {
  const { sale, configuration } = useApp();
  const isOther = Boolean(sale) && (sale.kind !== ORDER || sale.isFinished);
  useEffect(() => {
    if (isOther) go(sale.isFinished ? "/till/done" : "/till/pay", { replaces: true });
  }, [isOther]);
  useEffect(() => leaveNothingEmpty, []);
  if (isOther) return null;
  return html`<${OrderScreen} sale=${sale ?? { ...NOTHING, currency: configuration?.currency ?? "gbp" }} />`;
}

/** An order without anything in it would keep a quick payment from being begun. */
function leaveNothingEmpty() {
  const { sale } = app();
  if (sale?.kind !== ORDER || sale.isFinished || !isEmpty(sale)) return;
  // Another tab may have begun to have it paid: then it stays.
  endSale(sale.id, isEmpty).catch((error) => { if (!(error instanceof ApiError)) throw error; });
}

function OrderScreen({ sale }) {
  const { agent } = useApp();
  const [dialog, open] = useState(null); // {kind, …}
  const [said, say] = useSaid();
  const [isBrowsing, browse] = useState(false);
  const adding = useAdding(open, say);
  const { words, scans } = adding;
  const isEmpty = !sale.lines.length && !sale.unresolved.length;
  const isLocked = sale.paid.length > 0;
  const isPicking = words !== "" || isBrowsing || isEmpty || scans.wanted !== null;
  const foot = html`<${Foot} sale=${sale} said=${said} onSaid=${say} open=${open} isLocked=${isLocked}
    mayDiscount=${agent?.canDiscount === true} />`;
  return html`
    <${Screen} title="Order" back="/till" aside=${html`<${ParkedLink} sale=${sale} />`} foot=${foot}
      className=${`order ${isPicking ? "picking" : ""} ${words ? "searching" : ""}`}>
      ${isLocked
        ? html`<${Note}>A part of this order is paid, so it stays as it is.<//>`
        : html`<${Find} adding=${adding} open=${open} isBrowsing=${isBrowsing} browse=${browse}
            hasOrder=${!isEmpty} />`}
      ${scans.wanted && html`<${Wanted} code=${scans.wanted} onLeave=${() => scans.setWanted(null)} />`}
      <${Problem}>${adding.problem}<//>
      ${!isLocked && html`<section class="order-picker" aria-label="Products">
        <${Picker} words=${words} onPick=${adding.pick} onFound=${adding.onFound} /></section>`}
      <${Contents} sale=${sale} isEmpty=${isEmpty} isLocked=${isLocked} adding=${adding} open=${open} onSaid=${say} />
    <//>
    <${OrderDialog} dialog=${dialog} sale=${sale} said=${said} onChoose=${adding.choose} onScan=${scans.take}
      close=${() => open(null)} />`;
}

/** What happened last, said once: the same words again count anew. */
function useSaid() {
  const [said, set] = useState({ words: "", times: 0 });
  return [said, (words) => set(({ times }) => ({ words, times: times + 1 }))];
}

/** How products come into the order: `{words, setWords, field, onFound, enter, pick, choose, find, scans, problem}`. */
function useAdding(open, say) {
  const [words, setWords] = useState("");
  const field = useRef(null);
  const found = useRef([]);
  const onChoose = (product, code) => open((now) => now ?? { kind: "variant", product, code });
  const scans = useScans({ onSaid: say, onChoose });
  useEffect(() => followScanner(scans.take), []);
  const added = (product, quantity) => {
    say(`${quantity > 1 ? `${quantity} × ` : ""}${product.name} added.`);
    setWords((now) => (now === words ? "" : now)); // The next ones may be typed already.
    scans.setWanted(null);
  };
  const [pick, , problem] = useAction(async (product, event) => {
    const whole = product.variants ? product : await readProduct(product.skuCode);
    if (whole.variants.length) {
      open({ kind: "variant", product: whole, code: scans.wanted });
      return;
    }
    await addProduct(whole, null, 1, scans.wanted);
    added(whole, 1);
    // A keyboard goes on in the field; on a phone that would bring up its own keyboard.
    if (event.detail === 0) field.current?.focus();
  });
  const choose = async (product, variant, quantity, code) => {
    await addProduct(product, variant, quantity, code);
    open(null);
    added(product, quantity);
  };
  const find = async (code) => {
    if (await scans.resolve(code)) return;
    scans.setWanted(code);
    field.current?.focus();
  };
  const enter = () => enterWords(words, found.current, { pick, scans, setWords });
  const onFound = (products) => { found.current = products; };
  return { words, setWords, field, onFound, enter, pick, choose, find, scans, problem };
}

/** Enter in the field: a code is looked up, a single product found is added. */
function enterWords(words, found, { pick, scans, setWords }) {
  if (/^\d{8,14}$/.test(words.trim())) {
    setWords("");
    scans.take(words.trim());
  } else if (found.length === 1 && found[0].inStock) pick(found[0], { detail: 0 });
}

function Wanted({ code, onLeave }) {
  return html`<${Note} kind="warn">Choose the product with the code <b class="n">${code}</b>.
    <${Button} kind="quiet" onPress=${onLeave}>Not now<//><//>`;
}

function Contents({ sale, isEmpty, isLocked, adding, open, onSaid }) {
  const { isOnline } = useApp();
  const { reasons, looking } = adding.scans;
  return html`<section class="order-contents" aria-label="Contents of the order">
    ${!isOnline && html`<${OldPrices} />`}
    ${isEmpty && html`<p class="nothing">Nothing in this order yet.</p>`}
    <${OrderLines} sale=${sale} isLocked=${isLocked} reasons=${reasons} looking=${looking} onFind=${adding.find}
      onSaid=${onSaid} />
    ${!isEmpty && !isLocked && html`
      <${Button} kind="quiet danger" onPress=${() => open({ kind: "discard" })}>Discard the order<//>`}
  </section>`;
}

function OldPrices() {
  const [time, show] = useState(null);
  useEffect(() => { pricesAsOf().then(show); }, []);
  const prices = time ? `Prices as of ${time}` : "Prices are the last known";
  return html`<${Note} kind="warn">${prices}; checked again before paying.<//>`;
}

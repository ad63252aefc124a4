// Counting the cash in the drawer by note and coin, or as one amount.

import { decimals, denominations, money, parseMoney } from "../money.js";
import { Button, Field, html, useState } from "../ui.js";

const SMALL = { gbp: "p", eur: "c", usd: "c" };

/** `onChange` gets the sum in minor units, null while something in it is no number. */
export function Count({ currency, onChange }) {
  const known = denominations(currency);
  const [isSum, setSum] = useState(!known.length);
  const swap = () => { onChange(0); setSum(!isSum); };
  const Way = isSum ? Sum : Pieces;
  return html`
    <${Way} known=${known} currency=${currency} onChange=${onChange} />
    ${known.length > 0 && html`<${Button} kind="quiet" onPress=${swap}>
      ${isSum ? "Count notes and coins" : "Enter one amount"}<//>`}`;
}

function Sum({ currency, onChange }) {
  const [text, setText] = useState("");
  const change = (typed) => {
    setText(typed);
    onChange(typed.trim() ? parseMoney(typed, currency) : 0);
  };
  return html`<${Field} label="Counted cash" id="counted" inputmode="decimal" autocomplete="off" value=${text}
    onInput=${change} />`;
}

function Pieces({ known, currency, onChange }) {
  const [numbers, setNumbers] = useState({});
  const change = (piece, typed) => {
    const next = { ...numbers, [piece]: typed };
    setNumbers(next);
    const isNumber = Object.values(next).every((number) => /^\d{0,6}$/.test(number));
    onChange(isNumber ? known.reduce((sum, one) => sum + one * Number(next[one] || 0), 0) : null);
  };
  return html`
    <fieldset class="counting"><legend class="label">Notes and coins</legend>
      ${known.map((piece) => html`<div key=${piece} class="denomination">
        <label for=${`piece-${piece}`}>${nameOf(piece, currency)}</label>
        <input id=${`piece-${piece}`} inputmode="numeric" autocomplete="off" placeholder="0"
          value=${numbers[piece] ?? ""} onInput=${(event) => change(piece, event.target.value.trim())} />
        <span class="n muted">${money(piece * (Number(numbers[piece]) || 0), currency)}</span>
      </div>`)}
    </fieldset>`;
}

/** "£20", "50p". */
function nameOf(piece, currency) {
  if (piece < 10 ** decimals(currency)) return `${piece}${SMALL[currency]}`;
  return money(piece, currency).replace(/\.00$/, "");
}

// Counting the cash in the drawer by note and coin, or as one amount.

import { amountText, decimals, denominations, money, parseMoney } from "../money.js";
import { Button, Field, html, useState } from "../ui.js";

const SMALL = { gbp: "p", eur: "c", usd: "c" };

/** `onChange` gets the sum in minor units, null where nothing was counted, NaN where something is no number. What was
    counted one way stays when it is counted the other way. */
export function Count({ currency, onChange }) {
  const known = denominations(currency);
  const [isSum, setSum] = useState(!known.length);
  const [text, setText] = useState("");
  const [numbers, setNumbers] = useState({});
  const changeText = (typed) => {
    setText(typed);
    onChange(sumOfText(typed, currency));
  };
  const changeNumbers = (next) => {
    setNumbers(next);
    onChange(sumOfPieces(next));
  };
  const swap = () => {
    const sum = sumOfPieces(numbers);
    if (isSum) onChange(sum);
    else changeText(Number.isInteger(sum) ? amountText(sum, currency) : text);
    setSum(!isSum);
  };
  return html`
    ${isSum ? html`<${Field} label="Counted cash" id="counted" inputmode="decimal" autocomplete="off" value=${text}
      onInput=${changeText} />`
    : html`<${Pieces} known=${known} currency=${currency} numbers=${numbers} onChange=${changeNumbers} />`}
    ${known.length > 0 && html`<${Button} kind="quiet" onPress=${swap}>
      ${isSum ? "Count notes and coins" : "Enter one amount"}<//>`}`;
}

function sumOfText(text, currency) { return text.trim() ? parseMoney(text, currency) ?? NaN : null; }

/** `numbers`: what was typed, by the piece in minor units. */
function sumOfPieces(numbers) {
  const counted = Object.entries(numbers).filter(([, number]) => number);
  if (!counted.length) return null;
  if (!counted.every(([, number]) => /^\d{1,6}$/.test(number))) return NaN;
  return counted.reduce((sum, [piece, number]) => sum + Number(piece) * Number(number), 0);
}

function Pieces({ known, currency, numbers, onChange }) {
  return html`
    <fieldset class="counting"><legend class="label">Notes and coins</legend>
      ${known.map((piece) => html`<div key=${piece} class="denomination">
        <label for=${`piece-${piece}`}>${nameOf(piece, currency)}</label>
        <input id=${`piece-${piece}`} inputmode="numeric" autocomplete="off" placeholder="0"
          value=${numbers[piece] ?? ""}
          onInput=${(event) => onChange({ ...numbers, [piece]: event.target.value.trim() })} />
        <span class="n muted">${money(piece * (Number(numbers[piece]) || 0), currency)}</span>
      </div>`)}
    </fieldset>`;
}

/** "£20", "50p". */
function nameOf(piece, currency) {
  if (piece < 10 ** decimals(currency)) return `${piece}${SMALL[currency]}`;
  return money(piece, currency).replace(/\.00$/, "");
}

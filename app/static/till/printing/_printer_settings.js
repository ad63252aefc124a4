// The printer of this device: choosing it, its paper, and a page to try it.

import { Button, html, Note, Problem, useAction, useEffect, useState } from "../ui.js";
import { changePrinter, choosePrinter, forgetPrinter, kindsOfPrinters } from "./printers.js";
import { NETWORK, printerInUse, SERIAL } from "./printers.js";
import { drawerBytes, testPageBytes } from "./receipt_bytes.js";

const PAPERS = [[32, "58 mm, 32 letters"], [42, "80 mm, 42 letters"], [48, "80 mm, 48 letters"]];
const NONE = "This browser reaches no printer by itself, and the location has no network printer. Receipts go by "
  + "e-mail, by the code on the screen, or by the browser’s own print.";
const LANGUAGES = [["esc-pos", "ESC/POS (Epson and most others)"], ["star-prnt", "StarPRNT (Star)"]];

export default function PrinterSettings() {
  const [printer, setPrinter] = useState(undefined); // undefined: not looked for yet; null: there is none.
  const [find, , missing] = useAction(async () => setPrinter(await printerInUse()));
  const [choose, isChoosing, refused, forgetRefusal] = useAction(async (kind) => setPrinter(await choosePrinter(kind)));
  const [forget] = useAction(async () => { await forgetPrinter(); setPrinter(null); });
  const change = (options) => {
    setPrinter({ ...printer, paper: { ...printer.paper, ...options } });
    changePrinter(options);
  };
  useEffect(() => { find(); }, []);
  const kinds = kindsOfPrinters();
  return html`
    <section class="card" aria-label="Printer"><h2>Printer</h2>
      <${Problem}>${refused ?? missing}<//>
      ${printer && html`<${InUse} printer=${printer} onChange=${change} onForget=${forget} />`}
      ${!printer && !kinds.length && html`<${Note}>${NONE}<//>`}
      ${!printer && kinds.length > 0 && html`
        <p>Which printer prints the receipts of this device?</p>
        <div class="choices">
          ${kinds.map(({ kind, label }) => html`<${Button} key=${kind} icon="printer" isBusy=${isChoosing}
            onPress=${() => { forgetRefusal(); choose(kind); }}>${label}<//>`)}
        </div>`}
    </section>`;
}

function InUse({ printer, onChange, onForget }) {
  const [test, isTesting, failed] = useAction(() => printer.print(testPageBytes(printer.paper)));
  const [kick, isKicking, stuck] = useAction(() => printer.print(drawerBytes(printer.paper)));
  const { columns, language } = printer.paper;
  return html`
    <p><strong>${printer.label}</strong></p>
    <fieldset><legend class="label">Paper</legend>
      ${PAPERS.map(([width, label]) => html`<label class="check" key=${width}>
        <input type="radio" name="columns" checked=${width === columns}
          onChange=${() => onChange({ columns: width })} /><span>${label}</span></label>`)}
    </fieldset>
    ${[SERIAL, NETWORK].includes(printer.kind) && html`<fieldset><legend class="label">Language</legend>
      ${LANGUAGES.map(([name, label]) => html`<label class="check" key=${name}>
        <input type="radio" name="language" checked=${name === language}
          onChange=${() => onChange({ language: name })} /><span>${label}</span></label>`)}
    </fieldset>`}
    <${Problem}>${failed ?? stuck}<//>
    <div class="choices">
      <${Button} isBusy=${isTesting} busy="Printing…" onPress=${test}>Print a test page<//>
      <${Button} isBusy=${isKicking} onPress=${kick}>Open the drawer<//>
      <${Button} kind="quiet" onPress=${onForget}>Use another printer<//>
    </div>`;
}

// The sale is paid: the change, the receipt, and on to the next one.

import { desk } from "../desk.js";
import { tenderWords } from "../payment_words.js";
import { go } from "../router.js";
import { endSale } from "../sale.js";
import { useApp } from "../state.js";
import { Amount, Button, Field, html, Icon, Note, Problem, Screen, useAction, useEffect, useState } from "../ui.js";

export default function Done() {
  const { sale } = useApp();
  const [next, isBusy] = useAction(async () => { await endSale(); go("/till"); });
  useEffect(() => {
    if (!sale) go("/till", { replaces: true });
    else if (!sale.isFinished) go("/till/pay", { replaces: true });
  }, [sale]);
  if (!sale?.isFinished) return null;
  const last = sale.paid.at(-1);
  const change = sale.change ?? last?.changeInPence ?? 0;
  const foot = html`<${Button} kind="primary big" isBusy=${isBusy} onPress=${next}>New sale<//>`;
  return html`
    <${Screen} title="Paid" className="done" foot=${foot}>
      <${Summary} sale=${sale} last=${last} change=${change} />
      ${last && html`<${Receipt} key=${last.id} transaction=${last} />`}
      ${sale.offline && html`<${Note} kind="warn">There was no network. This sale is kept on this device, and sent to the
        shop by itself once there is one: see <a href="/till/waiting">Waiting sales</a>. Its receipt is there then, under
        Transactions.<//>`}
    <//>`;
}

function Summary({ sale, last, change }) {
  const sum = sale.offline?.toPay ?? sale.paid.reduce((all, one) => all + one.amountInPence + one.tipInPence, 0);
  return html`
    <section class="payment-status good" role="status" aria-label="Payment">
      <span class="mark"><${Icon} name="tick" /></span>
      <p class="said">${last?.tenderType === "CARD" ? "Approved" : "Taken"}</p>
      <p><${Amount} of=${sum} currency=${sale.currency} className="total" /></p>
      ${sale.paid.map((one) => html`<p class="muted" key=${one.id}>${tenderWords(one)}</p>`)}
    </section>
    ${change > 0 && html`<div class="sum change"><p class="label">Change</p>
      <p><${Amount} of=${change} currency=${sale.currency} className="amount" /></p></div>`}`;
}

function Receipt({ transaction }) {
  const [receipt, show] = useState(null);
  const [load, isLoading, error] = useAction(async () => show(await desk().receipt(transaction.id)));
  const [print, isPrinting, notPrinted] = useAction(printOrShow);
  useEffect(() => { load(); }, []);
  return html`
    <section class="stack receipt" aria-label="Receipt">
      ${receipt && html`<figure class="code">
        <img alt="Receipt code" width="176" height="176" src=${pictureOf(receipt.qrSvg)} />
        <figcaption class="muted small">The customer’s phone opens the receipt</figcaption></figure>`}
      <${Problem}>${error}<//>
      ${error && html`<${Button} isBusy=${isLoading} onPress=${load}>Load the receipt again<//>`}
      <${Mail} transaction=${transaction} />
      <${Problem}>${notPrinted}<//>
      <${Button} kind="wide" icon="printer" disabled=${!receipt} isBusy=${isPrinting} busy="Printing…"
        onPress=${() => print(receipt)}>Print receipt<//>
    </section>`;
}

/** Print on the printer of this device; without one the receipt opens as a page, which the browser prints. */
async function printOrShow(receipt) {
  const { printReceipt } = await import("../printing/receipt_printing.js");
  if (!await printReceipt(receipt)) open(receipt.url, "_blank", "noopener");
}

function Mail({ transaction }) {
  const [email, setEmail] = useState("");
  const [sentTo, setSentTo] = useState(null);
  const [problem, setProblem] = useState(null);
  const [send, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    const address = email.trim();
    setProblem(/^\S+@\S+\.\S+$/.test(address) ? null : "Enter an e-mail address such as sam@example.com.");
    if (!/^\S+@\S+\.\S+$/.test(address)) return;
    await desk().sendReceipt(transaction.id, address);
    setSentTo(address);
    setEmail("");
  });
  return html`
    <form class="mail" onSubmit=${send} novalidate>
      <${Field} label="E-mail for the receipt" id="receipt-email" type="email" inputmode="email" autocomplete="off"
        autocapitalize="none" value=${email} onInput=${setEmail} error=${problem} />
      <${Button} type="submit" isBusy=${isBusy} busy="Sending…">Send receipt<//>
    </form>
    <${Problem}>${error}<//>
    <p role="status" class=${sentTo ? "muted" : "unseen"}>${sentTo && `The receipt is on its way to ${sentTo}.`}</p>`;
}

function pictureOf(svg) { return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`; }

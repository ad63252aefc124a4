// The receipt of a payment: as a code for the customer's phone, by e-mail, on paper.

import { desk } from "../desk.js";
import { printOrOpen } from "../printing/receipt_printing.js";
import { Button, Field, html, Problem, useAction, useEffect, useState } from "../ui.js";

const ADDRESS = /^\S+@\S+\.\S+$/;

/** `isShown`: the code is loaded at once, else when it is wanted. */
export function Receipt({ transactionId, isShown = false }) {
  const [shown, show] = useState(null); // {url, qrSvg, receipt}
  const [read, isReading, readError] = useAction(async () => show(await desk().receipt(transactionId)));
  const [print, isPrinting, printError] = useAction(async () => {
    await printOrOpen(shown ?? await desk().receipt(transactionId));
  });
  useEffect(() => { if (isShown) read(); }, []);
  const isComing = isShown && !shown && !readError;
  return html`
    <section class="card" aria-label="Receipt">
      <h2>Receipt</h2>
      ${(shown || isComing) && html`<figure class="receipt-code">
        ${shown ? html`<img alt="Receipt code" src=${pictureOf(shown.qrSvg)} />` : html`<span></span>`}
        <figcaption class="muted small">The customer’s phone opens the receipt</figcaption></figure>`}
      <${Problem}>${readError}<//>
      ${!shown && !isComing && html`<${Button} icon="qr" isBusy=${isReading} onPress=${read}>
        ${isShown ? "Load the receipt again" : "Show the receipt code"}<//>`}
      <${Mail} transactionId=${transactionId} />
      <${Problem}>${printError}<//>
      <${Button} icon="printer" isBusy=${isPrinting} busy="Printing…" onPress=${print}>Print receipt<//>
    </section>`;
}

function Mail({ transactionId }) {
  const [email, setEmail] = useState("");
  const [sentTo, setSentTo] = useState(null);
  const [problem, setProblem] = useState(null);
  const [send, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    setSentTo(null);
    const address = email.trim();
    const isAddress = ADDRESS.test(address);
    setProblem(isAddress ? null : "Enter an e-mail address such as sam@example.com.");
    if (!isAddress) return;
    await desk().sendReceipt(transactionId, address);
    setSentTo(address);
    setEmail("");
  });
  return html`
    <form class="beside" onSubmit=${send} novalidate>
      <${Field} label="E-mail for the receipt" id="receipt-email" type="email" inputmode="email" autocomplete="off"
        autocapitalize="none" value=${email} onInput=${setEmail} error=${problem} />
      <${Button} type="submit" isBusy=${isBusy} busy="Sending…">Send receipt<//>
    </form>
    <${Problem}>${error}<//>
    <p role="status" class=${sentTo ? "muted" : "unseen"}>${sentTo && `The receipt goes to ${sentTo}.`}</p>`;
}

function pictureOf(svg) { return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`; }

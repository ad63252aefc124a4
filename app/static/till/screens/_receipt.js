import { desk } from "../desk.js";
import { printOrOpen } from "../printing/receipt_printing.js";
import { Button, Field, html, Problem, useAction, useState } from "../ui.js";

/** The receipt of a payment once more: as a code for the customer's phone, by e-mail, on paper. */
export function Receipt({ transactionId }) {
  const [shown, show] = useState(null); // {url, qrSvg}
  const [email, setEmail] = useState("");
  const [sentTo, setSentTo] = useState(null);
  const [read, isReading, readError] = useAction(async () => show(await desk().receipt(transactionId)));
  const [printIt, isPrinting, printError] = useAction(async () => {
    await printOrOpen(shown ?? await desk().receipt(transactionId));
  });
  const [send, isSending, sendError] = useAction(async (event) => {
    event.preventDefault();
    setSentTo(null);
    if (!email.trim()) throw Object.assign(new Error("Enter the customer's e-mail address."), { isForPeople: true });
    await desk().sendReceipt(transactionId, email.trim());
    setSentTo(email.trim());
    setEmail("");
  });
  return html`
    <section class="card" aria-label="Receipt">
      <h2>Receipt</h2>
      ${shown
        ? html`<img class="receipt-code" alt="Receipt code" width="200" height="200" src=${pictureOf(shown.qrSvg)} />`
        : html`<${Button} icon="qr" isBusy=${isReading} onPress=${read}>Show the receipt code<//>`}
      <${Button} icon="printer" isBusy=${isPrinting} busy="Printing…" onPress=${printIt}>Print receipt<//>
      <${Problem}>${readError ?? printError}<//>
      <form class="send-receipt" onSubmit=${send} novalidate>
        <${Field} label="E-mail for the receipt" id="receipt-email" type="email" inputmode="email" autocomplete="off"
          autocapitalize="none" value=${email} onInput=${setEmail} />
        <${Button} type="submit" isBusy=${isSending} busy="Sending…">Send receipt<//>
      </form>
      <${Problem}>${sendError}<//>
      <p role="status" class=${sentTo ? "" : "unseen"}>${sentTo && `The receipt goes to ${sentTo}.`}</p>
    </section>`;
}

function pictureOf(svg) { return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`; }

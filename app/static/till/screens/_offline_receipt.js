// What there is of a receipt for a sale without a network: on paper, by the printer of this device.

import { offlineSale } from "../offline.js";
import { offlineReceipt } from "../printing/offline_receipt.js";
import { printReceipt } from "../printing/receipt_printing.js";
import { app } from "../state.js";
import { Button, html, Note, Problem, useAction, useState } from "../ui.js";

export function OfflineReceipt({ sale }) {
  const [lacksPrinter, setLacksPrinter] = useState(false);
  const [print, isPrinting, error] = useAction(async () => {
    const isPrinted = await printReceipt(offlineReceipt(await offlineSale(sale.id), app().configuration));
    setLacksPrinter(!isPrinted);
  });
  return html`
    <section class="stack receipt" aria-label="Receipt">
      <${Note} kind="warn">There was no network. This sale is kept on this device, and sent to the shop by itself once
        there is one: see <a href="/till/waiting">Waiting sales</a>. Its code and e-mail are there then, under
        Transactions.<//>
      <${Problem}>${error}<//>
      <p role="status" class=${lacksPrinter ? "muted" : "unseen"}>${lacksPrinter
        && "This device has no receipt printer. The receipt comes under Transactions, once the sale is sent."}</p>
      <${Button} kind="wide" icon="printer" isBusy=${isPrinting} busy="Printing…" onPress=${print}>Print receipt<//>
    </section>`;
}

import { useApp } from "../state.js";
import { html } from "../ui.js";

/** How receipts get on paper. */
export function Printer() {
  const { configuration } = useApp();
  return html`
    <section class="card" aria-label="Printer"><h2>Printer</h2>
      <p>Receipts are printed by the ${configuration?.hasPrinter ? "network printer of this location" : "browser"}.</p>
    </section>`;
}

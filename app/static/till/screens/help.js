// Help: short answers for who stands at the till.

import { useApp } from "../state.js";
import { CARDS } from "../training_cards.js";
import { html, Screen } from "../ui.js";

const ANSWERS = [
  ["Make a sale", [
    "Quick payment: enter the amount, say what it is for, then choose Card or Cash.",
    "New order: find products by name or scan them, then press Charge. Prices and totals come from the shop.",
    "Park sets an order aside for the next customer. You find it under Parked orders.",
  ]],
  ["Take a card", [
    "Press Card and let the customer hold the card to the reader. Wait for Approved before you hand anything over.",
    "Declined: the reason is on the screen. Press Try another card; nothing was charged.",
    "Part of the amount takes a part now, and the rest by another card or in cash.",
  ]],
  ["Take cash", [
    "Choose the exact amount or the note that you were given. The till shows the change.",
    "To undo cash before the sale is over, press Take back. Later, give a refund.",
  ]],
  ["We don't know yet", [
    "The card's answer got lost, so nobody knows yet whether it was charged. Do not charge it again.",
    "The till goes on asking, and ends in Approved or Declined. It also does so after a restart.",
  ]],
  ["No network", [
    "You can browse products that were loaded, and build and park orders.",
    "Orders can be paid in cash. The sale is kept on this device and sent when the network is back.",
    "Cards need the network. Stay signed in until no sales are waiting.",
  ]],
  ["Scan barcodes", [
    "A scanner that types works at once: just scan while an order is open.",
    "Scan a barcode uses the camera. Allow it when the browser asks, and hold the code still in good light.",
    "A code that the shop does not know stays in the order until you find the product or remove the code.",
  ]],
  ["Print receipts", [
    "Choose the printer in Settings. Without one, the browser prints.",
    "The customer can also scan the receipt's code with a phone, or have it by e-mail.",
    "Any receipt can be had again: open the payment under Transactions.",
  ]],
  ["Give money back", [
    "Open the payment under Transactions and press Refund. You can give back all of it or a part.",
    "Agents refund their own payments where they may. An admin can refund every payment.",
  ]],
  ["Practise", [
    "Switch on Training mode in Settings. Cards are simulated, and nothing reaches the shop.",
    "A yellow line on every screen says Training. Switch it off before you sell.",
  ]],
  ["Ask somebody", [
    "What you may do, limits and locations: an admin of the shop sets them under Mobile POS.",
    "A lost phone: remove it under Settings, Devices, on another device, or ask an admin to end its session.",
  ]],
];

export default function Help() {
  const { configuration } = useApp();
  return html`
    <${Screen} title="Help" back="/till">
      <div class="answers">
        ${ANSWERS.map(([title, lines]) => html`<details key=${title}><summary>${title}</summary>
          <ul>${lines.map((line) => html`<li key=${line}>${line}</li>`)}</ul></details>`)}
        ${configuration?.processor === "simulator" && html`
          <details><summary>Simulated cards</summary><${Cards} /></details>`}
      </div>
    <//>`;
}

function Cards() {
  return html`
    <table><thead><tr><th>Card</th><th>What it does</th></tr></thead>
      <tbody>${Object.entries(CARDS).map(([name, { means }]) => html`
        <tr key=${name}><td><code>${name}</code></td><td>${means}</td></tr>`)}</tbody></table>`;
}

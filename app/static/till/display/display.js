// The customer's display: it follows the till in the same browser, and has no controls.

import { html, render, useEffect, useRef, useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { money } from "../money.js";
import { CHANNEL } from "./channel.js";

const STATES = {
  cash: "To pay",
  waiting: "Present your card",
  pin: "Enter your PIN on the reader",
  processing: "One moment…",
  declined: "Declined. Try another card, or pay in another way",
  approved: "Paid. Thank you",
  unknown: "One moment: we are checking your payment",
};

function Display() {
  const [shown, show] = useState({ kind: "idle", shopName: "" });
  const shopName = useRef("");
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.addEventListener("message", ({ data }) => {
      if (data.kind === "hello") return; // Of another display.
      if (data.shopName) shopName.current = data.shopName;
      show(data);
    });
    channel.postMessage({ kind: "hello" });
    return () => channel.close();
  }, []);
  if (shown.kind === "basket" && shown.lines.length) return html`<${Basket} ...${shown} />`;
  if (shown.kind === "payment") return html`<${Payment} ...${shown} />`;
  return html`<main class="say"><h1>${shopName.current || "Welcome"}</h1></main>`;
}

function Basket({ currency, lines, total, due }) {
  const list = useRef(null);
  useEffect(() => { list.current.lastElementChild?.scrollIntoView({ block: "end" }); }, [lines]);
  return html`
    <main class="basket">
      <h1 class="unseen">Your order</h1>
      <ul ref=${list} aria-label="Order">
        ${lines.map(({ name, quantity, lineTotal }, place) => html`
          <li key=${place}><span class="quantity n">${quantity} ×</span><span class="name">${name}</span>
            <span class="n">${money(lineTotal, currency)}</span></li>`)}
      </ul>
      <section class="sums" role="status">
        ${due !== total && html`<p class="paid">
          <span>Total</span> <span class="n">${money(total, currency)}</span></p>`}
        <p class="due"><span>To pay</span> <strong class="n">${money(due, currency)}</strong></p>
      </section>
    </main>`;
}

function Payment({ state, amount, change, currency }) {
  const hasChange = state === "approved" && change > 0;
  return html`
    <main class=${`say ${state}`} role="status">
      <h1>${STATES[state] ?? STATES.processing}</h1>
      ${hasChange ? html`<p class="label">Change</p><p class="amount n">${money(change, currency)}</p>`
      : html`<p class="amount n">${money(amount, currency)}</p>`}
    </main>`;
}

/** Keep the screen on while it is seen, where the browser can. */
async function stayAwake() {
  if (document.visibilityState !== "visible") return;
  try {
    await navigator.wakeLock?.request("screen");
  } catch { /* The battery is low, or the browser may not: the display works without. */ }
}

document.addEventListener("visibilitychange", stayAwake);
stayAwake();
render(html`<${Display} />`, document.getElementById("display"));

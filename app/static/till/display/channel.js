// What the customer's display shows, sent by the till in the same browser: a page at /till/display follows it.

export const CHANNEL = "till-display";

let channel = null;
let present = { kind: "idle", shopName: "" };

/** Show the basket: `{currency, lines: [{name, quantity, lineTotal}], total, due}`, amounts in minor units. */
export function showBasket({ currency, lines, total, due }) {
  const shown = lines.map(({ name, quantity, lineTotal }) => ({ name, quantity, lineTotal }));
  send({ kind: "basket", currency, lines: shown, total, due });
}

/** Show how the payment stands: `{state, amount, currency, change?}`. `state`: cash, waiting, pin, processing,
    declined, approved or unknown; `change` is what the customer gets back. */
export function showPayment({ state, amount, currency, change }) {
  send({ kind: "payment", state, amount, currency, ...(change === undefined ? {} : { change }) });
}

/** Show nothing but the shop's name. */
export function showIdle(shopName) { send({ kind: "idle", shopName }); }

function send(message) {
  present = message;
  open().postMessage(message);
}

function open() {
  if (channel) return channel;
  channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }) => {
    if (data.kind === "hello") channel.postMessage(present);
  });
  // The next customer does not see what the last one bought.
  addEventListener("pagehide", () => channel.postMessage({ kind: "idle", shopName: present.shopName ?? "" }));
  return channel;
}

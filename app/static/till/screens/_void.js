// Taking back a payment in cash, as if it had not been made.

import { money } from "../money.js";
import { paidAmount } from "../transaction_words.js";
import { Button, Dialog, Field, html, Problem, useAction, useRef, useState } from "../ui.js";

/** `takeBack(reason, key)` does it; `onClose` gets what it returns, nothing where the payment stays. */
export function VoidDialog({ payment, takeBack, onClose }) {
  const key = useRef(crypto.randomUUID()); // Pressed again after a lost answer, it is the same request.
  const [reason, setReason] = useState("");
  const [isMissing, setMissing] = useState(false);
  const handedOver = money(paidAmount(payment), payment.currency);
  const [send, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    setMissing(!reason.trim());
    if (reason.trim()) onClose(await takeBack(reason.trim(), key.current));
  });
  return html`
    <${Dialog} title="Take back cash" onClose=${() => onClose()}>
      <form class="stack" onSubmit=${send} novalidate>
        <p>Hand ${handedOver} back to the customer. The payment is undone, as if it had not been made.</p>
        <${Field} label="Reason" id="void-reason" value=${reason} onInput=${setReason} maxlength="200"
          error=${isMissing ? "Say why, for the shop's books." : null} />
        <${Problem}>${error}<//>
        <${Button} kind="danger big" type="submit" isBusy=${isBusy} busy="Taking back…">Take back ${handedOver}<//>
      </form>
    <//>`;
}

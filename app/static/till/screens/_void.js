import { desk } from "../desk.js";
import { notePayment } from "../sale.js";
import { paidAmount } from "../transaction_words.js";
import { Amount, Button, Dialog, Field, html, Problem, useAction, useRef, useState } from "../ui.js";

/** Take back a payment in cash. `onClose` gets the payment as it then is, nothing where it stays. */
export function VoidDialog({ payment, onClose }) {
  const key = useRef(crypto.randomUUID()); // Pressed again after a lost answer, it is the same request.
  const [reason, setReason] = useState("");
  const [lacks, setLacks] = useState(null);
  const [takeBack, isBusy, error] = useAction(async () => {
    setLacks(reason.trim() ? null : "Say why, for the shop's books.");
    if (!reason.trim()) return;
    const taken = await desk().voidCash(payment.id, reason.trim(), key.current);
    await notePayment(taken);
    onClose(taken);
  });
  return html`
    <${Dialog} title="Take back" onClose=${() => onClose()}
      foot=${html`<${Button} onPress=${() => onClose()}>Keep the payment<//>
        <${Button} kind="danger" isBusy=${isBusy} busy="Taking back…" onPress=${takeBack}>Take back<//>`}>
      <p>The payment of <${Amount} of=${paidAmount(payment)} currency=${payment.currency} className="strong" /> is
        undone, as if it had not been made. Give the cash to the customer.</p>
      <${Field} label="Reason" id="void-reason" value=${reason} onInput=${setReason} error=${lacks} maxlength="200" />
      <${Problem}>${error}<//>
    <//>`;
}

// Cash into and out of the drawer other than by payments.

import { amountText, money, parseMoney } from "../money.js";
import { Button, Dialog, Field, html, Note, Problem, useAction, useState } from "../ui.js";
import { moveCash, readReport } from "../work_session.js";

export const MOVEMENTS = {
  PAY_IN: { label: "Pay in", help: "Cash that you put into the drawer, such as change from the bank." },
  PAY_OUT: { label: "Pay out", help: "Cash that you take out to spend, such as for parking." },
  DROP: { label: "Drop", help: "Cash that you take out for the safe." },
};

export function Movement({ type, currency, onClose }) {
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const [missing, setMissing] = useState({});
  const [booked, setBooked] = useState(null);
  const [excess, setExcess] = useState(null); // {amountInPence, expected}: more than should be there.
  const [send, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    const amountInPence = parseMoney(amount, currency);
    const lacks = {
      amount: amountInPence ? null : `Write an amount, such as ${amountText(2_000, currency)}.`,
      reason: reason.trim() ? null : "Say why.",
    };
    setMissing(lacks);
    if (lacks.amount || lacks.reason) return;
    const isConfirmed = excess?.amountInPence === amountInPence;
    const expected = type === "PAY_IN" || isConfirmed ? null : await expectedCash();
    if (expected !== null && amountInPence > expected) setExcess({ amountInPence, expected });
    else setBooked(await moveCash({ type, amountInPence, reason: reason.trim() }));
  });
  const isExcess = excess !== null && excess.amountInPence === parseMoney(amount, currency);
  const { label, help } = MOVEMENTS[type];
  if (booked) {
    return html`
      <${Dialog} title=${label} onClose=${onClose} foot=${html`<${Button} kind="primary" onPress=${onClose}>Done<//>`}>
        <p role="status">Booked: ${money(booked.amountInPence, currency)}, ${booked.reason}</p>
      <//>`;
  }
  return html`
    <${Dialog} title=${label} onClose=${onClose}>
      <form class="stack" onSubmit=${send} novalidate>
        <p class="muted">${help}</p>
        <${Field} label="Amount" id="movement-amount" inputmode="decimal" autocomplete="off" value=${amount}
          onInput=${setAmount} error=${missing.amount} />
        <${Field} label="Reason" id="movement-reason" maxlength="200" value=${reason} onInput=${setReason}
          error=${missing.reason} />
        <${Problem}>${error}<//>
        <div role="status">${isExcess && html`<${Note} kind="warn">
          There should be ${money(excess.expected, currency)} in the drawer. Check the amount.<//>`}</div>
        <${Button} kind="primary big" type="submit" isBusy=${isBusy} busy="Booking…">
          ${isExcess ? `${label} all the same` : label}<//>
      </form>
    <//>`;
}

/** The cash that should be in the drawer now, null where the shop does not say. */
async function expectedCash() { return readReport().then((report) => report.expectedCash, () => null); }

// A card payment under way.

import { statusOf } from "../payment_words.js";
import { isForsaken } from "../payment_run.js";
import { cancelPayment, stopWaiting, tryAnotherCard } from "../payments.js";
import { presentCard, typePin } from "../readers/simulated.js";
import { chooseReader, forgetReader, listReadersAgain } from "../readers/smart.js";
import { money } from "../money.js";
import { useApp } from "../state.js";
import { Amount, Button, Field, html, Icon, Note, Screen, useAction, useEffect, useRef, useState } from "../ui.js";

const MAY_CANCEL = ["reader", "waiting", "pin", "declined"];
const ICONS = { good: "tick", bad: "cross", warn: "warn" };

export function CardPayment({ payment, sale }) {
  const { configuration } = useApp();
  const { currency } = sale;
  const isHere = !payment.isElsewhere;
  const mayCancel = isHere && MAY_CANCEL.includes(payment.state);
  const mayLeave = !isHere || payment.state === "unknown"; // It may last; nothing new is charged meanwhile.
  const foot = mayCancel ? html`<${Actions} payment=${payment} />`
    : isHere && isForsaken(payment) && html`<${Button} kind="danger wide" onPress=${stopWaiting}>Stop waiting<//>`;
  const isSimulated = isHere && configuration?.simulatedCards.length > 0;
  return html`
    <${Screen} title="Take payment" back=${mayLeave ? "/till" : null} className="paying" foot=${foot}>
      <div class="sum">
        <p class="label">To pay</p>
        <p><${Amount} of=${payment.amount + payment.tip} currency=${currency} className="amount" /></p>
        ${payment.tip > 0 && html`<p class="muted">${money(payment.tip, currency)} of it is the tip</p>`}
      </div>
      <${Status} payment=${payment} isAwaited=${!isForsaken(payment)} />
      ${!isHere && html`<${Note}>This payment is under way in another tab, which goes on with it.<//>`}
      ${isHere && payment.state === "reader" && html`<${Readers} readers=${payment.readers ?? []} />`}
      ${isSimulated && payment.state === "waiting" && html`<${Cards} cards=${configuration.simulatedCards}
        isOff=${payment.isAsking} />`}
      ${isSimulated && payment.state === "pin" && html`<${Pin} />`}
    <//>`;
}

/** The status, which is announced as it changes. */
function Status({ payment, isAwaited }) {
  const { text, kind } = statusOf(payment);
  const isUnknown = isAwaited && text.startsWith("We don't");
  return html`
    <section class=${`payment-status ${kind}`} role="status" aria-label="Payment">
      <span class="mark">${ICONS[kind] ? html`<${Icon} name=${ICONS[kind]} />` : html`<${Icon} name="card" />`}</span>
      <p class="said">${text}</p>
      ${payment.notice && html`<p class="muted">${payment.notice}</p>`}
      ${isUnknown && html`
        <p class="muted">The till finds out by itself. Don’t charge again, and keep the customer here.</p>`}
    </section>`;
}

function Actions({ payment }) {
  const [cancel, isCancelling] = useAction(cancelPayment);
  const isEnding = isCancelling || payment.isGivenUp || payment.isAsking;
  const isDeclined = payment.state === "declined";
  const buttons = useRef(null);
  useEffect(() => {
    if (isDeclined) buttons.current.querySelector("button").focus({ preventScroll: true });
  }, [isDeclined]);
  return html`<div class="stack" ref=${buttons}>
    ${isDeclined && html`<${Button} kind="primary big" icon="card" disabled=${isEnding} onPress=${tryAnotherCard}>
      Try another card<//>`}
    ${isDeclined && payment.isStopped && html`<${Button} disabled=${isEnding}
      onPress=${async () => { await forgetReader(); tryAnotherCard(); }}>Choose another reader<//>`}
    <${Button} kind="danger" isBusy=${isCancelling || payment.isGivenUp} busy="Cancelling…" onPress=${cancel}>
      Cancel payment<//></div>`;
}

/** What only the simulator shows: the cards that a customer might hold to the reader. */
function Cards({ cards, isOff }) {
  return html`
    <section class="sheet" role="group" aria-label="Simulated cards">
      <p class="label" aria-hidden="true">Simulated cards</p>
      <div class="cards">
        ${cards.map((card) => html`
          <button type="button" key=${card} class="btn sim" aria-label=${card} disabled=${isOff}
            onClick=${() => presentCard(card)}>${breakable(card)}</button>`)}
      </div>
    </section>`;
}

/** A name such as pin_required, which may be broken after its underscores. */
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, place) => (place ? [html`<wbr />`, part] : part));
}

function Pin() {
  const [pin, setPin] = useState("");
  const form = useRef(null);
  useEffect(() => { form.current.querySelector("input").focus(); }, []);
  return html`
    <form class="sheet stack" ref=${form} onSubmit=${(event) => { event.preventDefault(); if (pin) typePin(pin); }}>
      <${Field} label="PIN on the reader" id="reader-pin" value=${pin} onInput=${setPin} inputmode="numeric"
        maxlength="12" autocomplete="off" help="The simulated card’s PIN is 1234." />
      <${Button} type="submit" kind="primary" disabled=${!pin}>Confirm PIN<//>
    </form>`;
}

function Readers({ readers }) {
  return html`
    <section class="stack" role="group" aria-label="Card readers">
      ${!readers.length && html`<p>No reader is set up at this location, or the list could not be loaded.</p>`}
      <ul class="list">
        ${readers.map((reader) => html`<li key=${reader.id}>
          <button type="button" class="row-button between" onClick=${() => chooseReader(reader.id)}>
            <span class="strong">${reader.label || reader.deviceType}</span>
            <${Reach} isOnline=${reader.status === "online"} />
          </button></li>`)}
      </ul>
      <${Button} onPress=${listReadersAgain}>Look for readers again<//>
    </section>`;
}

function Reach({ isOnline }) {
  return html`<span class=${`badge ${isOnline ? "good" : "warn"}`}>${isOnline ? "Online" : "Offline"}</span>`;
}

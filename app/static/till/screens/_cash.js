// Taking cash, within the screen of the payment.

import { canRepeat, CASH, endFound, giveUp, resumeCash, takeCash } from "../cash.js";
import { amountText, likelyTenders, money, parseMoney, rounded } from "../money.js";
import { offlineRefusal } from "../offline.js";
import { due, QUICK } from "../sale.js";
import { useApp } from "../state.js";
import { Button, Field, html, Loading, Note, Problem, Screen, useAction, useEffect, useState } from "../ui.js";
import { Sum } from "./_sum.js";

const KEPT = "There is no network. This sale is kept on this device and sent to the shop later.";
const OF_ANOTHER = "Another agent took this cash, and must sign in so that the shop can be asked.";

/** Take `amount` of what is due in cash. `onDone` gets whether the sale is finished, once the cash is taken; `onBack`
    is for another way to pay. */
export default function Cash({ sale, amount, onDone, onBack }) {
  const { payment } = useApp();
  const [take, isTaking, refused] = useAction(async (request) => onDone((await takeCash(request)).isFinished));
  const [resume, , lost] = useAction(async () => onDone(Boolean((await resumeCash())?.isFinished)));
  const record = payment?.tender === CASH ? payment : null;
  useEffect(() => { if (record && !isTaking) resume(); }, []);
  return html`
    <${Screen} title="Take payment" back=${record?.isUncertain ? "/till" : null}>
      <${Sum} amount=${amount} all=${due(sale).amount} isChecked=${due(sale).isChecked} currency=${sale.currency} />
      ${record?.isUncertain && html`<${Unknown} record=${record} />`}
      ${record && !record.isUncertain && html`<${Loading}>Taking cash…<//>`}
      ${!record && html`<${CashForm} sale=${sale} amount=${amount} take=${take} isBusy=${isTaking} onBack=${onBack} />`}
      <${Problem}>${refused ?? lost}<//>
    <//>`;
}

function CashForm({ sale, amount, take, isBusy, onBack }) {
  const { configuration, isOnline, isTraining } = useApp();
  const [received, setReceived] = useState("");
  const { currency } = sale;
  const isLast = sale.kind === QUICK || amount === due(sale).amount;
  const toPay = rounded(amount, isLast ? configuration.cashRounding : 0);
  const tendered = received.trim() ? parseMoney(received, currency) : toPay;
  const isEnough = tendered !== null && tendered >= toPay;
  const refusal = isOnline || isTraining ? null : offlineRefusal(sale, amount);
  const submit = (event) => {
    event.preventDefault();
    if (isEnough && !refusal) take({ amount, tendered });
  };
  return html`
    <form class="stack" onSubmit=${submit} novalidate>
      ${!isOnline && !isTraining && html`<${Note} kind="warn">${refusal ?? KEPT}<//>`}
      ${toPay !== amount && html`<p class="between">
        <span>Rounded to</span><span class="total">${money(toPay, currency)}</span></p>`}
      <div class="choices" role="group" aria-label="Cash received">
        ${likelyTenders(toPay, currency).map((one) => html`<button type="button" key=${one} class="btn big n"
          aria-pressed=${received && tendered === one ? "true" : "false"}
          onClick=${() => setReceived(amountText(one, currency))}>${money(one, currency)}</button>`)}
      </div>
      <${Field} label="Received" id="received" inputmode="decimal" autocomplete="off" enterkeyhint="done"
        value=${received} onInput=${setReceived} placeholder=${amountText(toPay, currency)}
        error=${tendered === null ? `Write an amount such as ${amountText(toPay, currency)}.` : null} />
      <${Change} tendered=${tendered} toPay=${toPay} currency=${currency} />
      <${Button} kind="primary big wide" type="submit" icon="cash" isBusy=${isBusy} busy="Taking cash…"
        disabled=${!isEnough || Boolean(refusal)}>Take cash<//>
      <${Button} kind="quiet wide" onPress=${onBack} disabled=${isBusy}>Pay another way<//>
    </form>`;
}

function Change({ tendered, toPay, currency }) {
  const isMissing = tendered !== null && tendered < toPay;
  return html`
    <p class=${`between given ${isMissing ? "short" : ""}`} role="status">
      <span class="strong">${isMissing ? "Still missing" : "Change"}</span>
      <span class="amount">${tendered === null ? "–" : money(Math.abs(tendered - toPay), currency)}</span>
    </p>`;
}

function Unknown({ record }) {
  const { isOnline, user } = useApp();
  const { amount, tendered, currency } = record.request;
  const why = isOnline ? "The shop did not answer." : "The network went away.";
  return html`
    <div class="card unsure" role="status">
      <h2>We don't know yet</h2>
      <p>${why} ${money(amount, currency)} in cash may be booked already. Keep what was handed over
        (${money(tendered, currency)}) apart${canRepeat(record) &&
        ": the shop is asked again until it answers, and nothing is booked twice"}.</p>
    </div>
    ${!canRepeat(record) && html`<${Forsaken} record=${record} isOther=${user?.id !== record.userId} />`}`;
}

/** The shop cannot say any more what became of the cash; a person has to look. */
function Forsaken({ record, isOther }) {
  const [end, isBusy, error] = useAction((isThere) => (isThere ? endFound(record) : giveUp(record)));
  const { amount, currency } = record.request;
  const isOrder = Boolean(record.request.orderId);
  return html`
    <${Note} kind="warn">${isOther ? OF_ANOTHER : "This is too long ago for the shop to be asked."}
      ${" "}Look into the transactions for ${money(amount, currency)} in cash, maybe rounded, then say what you
      found.<//>
    <${Problem}>${error}<//>
    <a class="btn wide" href="/till/transactions">Transactions</a>
    ${!isOrder && html`<${Button} kind="wide" onPress=${() => end(true)} isBusy=${isBusy}>It is there: end the sale<//>`}
    <${Button} kind="danger wide" onPress=${() => end(false)} isBusy=${isBusy}>
      ${isOrder ? "Stop waiting" : "It is not there: stop waiting"}<//>`;
}

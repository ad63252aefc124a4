// The work session: opening float, X report, cash movements, closing.

import { timeOf } from "../moments.js";
import { amountText, money, parseMoney } from "../money.js";
import { useApp } from "../state.js";
import {
  Amount, Button, Dialog, Field, html, Loading, Note, Problem, Screen, useAction, useEffect, useState,
} from "../ui.js";
import { currentSession, forgetMovement, openMovement, readReport, resumeMovement, setFloat } from "../work_session.js";
import { Closing } from "./_closing.js";
import { MOVEMENTS, Movement } from "./_movement.js";
import { Report } from "./_report.js";

export default function Session() {
  const { isTraining } = useApp();
  return html`
    <${Screen} title="Session" back="/till">
      ${isTraining && html`<${Note} kind="warn">Training has no work session: no money moves.<//>`}
      ${!isTraining && html`<${WorkSession} />`}
    <//>`;
}

function WorkSession() {
  const { isOnline, unsent } = useApp();
  const [session, setSession] = useState(null);
  const [load, isBusy, error] = useAction(async () => setSession(await currentSession()));
  useEffect(() => { if (isOnline || !session) load(); }, [isOnline]);
  return html`
    ${!session && isBusy && html`<${Loading} />`}
    ${!isOnline && html`<${Note} kind="warn">There is no network. Reports, movements and closing need one.<//>`}
    <${Problem}>${isOnline ? error : null}<//>
    ${isOnline && error && html`<${Button} onPress=${load} isBusy=${isBusy}>Try again<//>`}
    ${unsent > 0 && html`<${Note} kind="warn">
      <a href="/till/waiting">${unsent === 1 ? "1 sale" : `${unsent} sales`}</a> made without a network: not booked yet,
      and in no report.<//>`}
    ${session && html`
      <${Float} session=${session} onChange=${setSession} />
      <${OpenMovement} currency=${session.currency} />
      <${Drawer} session=${session} />`}`;
}

/** The cash in the drawer at the beginning: set once, and corrected where it was wrong. */
function Float({ session, onChange }) {
  const { openingFloat, currency, startedAt } = session;
  const [isEdited, setEdited] = useState(openingFloat === null);
  if (!isEdited) {
    return html`
      <div class="card row apart">
        <p>Opened at ${timeOf(startedAt)} with
          ${" "}<${Amount} of=${openingFloat} currency=${currency} className="strong" /></p>
        <${Button} onPress=${() => setEdited(true)}>Correct float<//>
      </div>`;
  }
  return html`<${FloatForm} session=${session} onSaved=${(saved) => { setEdited(false); onChange(saved); }} />`;
}

function FloatForm({ session: { openingFloat, currency }, onSaved }) {
  const [text, setText] = useState(openingFloat === null ? "" : amountText(openingFloat, currency));
  const [problem, setProblem] = useState(null);
  const [save, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    const amount = parseMoney(text, currency);
    const example = amountText(10_000, currency);
    setProblem(amount === null ? `Write the cash in the drawer, such as ${example}; 0 for none.` : null);
    if (amount !== null) onSaved(await setFloat(amount));
  });
  return html`
    <form class="card" onSubmit=${save} novalidate>
      <${Field} label="Opening float" id="float" inputmode="decimal" autocomplete="off" value=${text} onInput=${setText}
        error=${problem} help="The cash in the drawer before the first sale." />
      <${Problem}>${error}<//>
      <${Button} kind="primary big wide" type="submit" isBusy=${isBusy} busy="Saving…">
        ${openingFloat === null ? "Open session" : "Save float"}<//>
    </form>`;
}

function Drawer({ session }) {
  const { configuration } = useApp();
  const [shown, show] = useState(null); // A type of movement, "X" or "CLOSE".
  const may = configuration?.permissions.cashMovements;
  const close = () => show(null);
  return html`
    <div class="even">
      ${Object.entries(MOVEMENTS).map(([type, { label }]) => html`
        <${Button} key=${type} kind="big" disabled=${!may} onPress=${() => show(type)}>${label}<//>`)}
    </div>
    ${!may && html`<p class="muted small">Paying in and out and drops need a permission that you do not have. An admin
      can give it under Mobile POS, Agents.</p>`}
    <${Button} kind="big wide" icon="list" onPress=${() => show("X")}>X report<//>
    <${Button} kind="big wide danger" icon="lock" onPress=${() => show("CLOSE")}>Close session<//>
    ${shown === "X" && html`<${XReport} onClose=${close} />`}
    ${shown === "CLOSE" && html`<${Closing} session=${session} onClose=${close} />`}
    ${shown in MOVEMENTS && html`<${Movement} type=${shown} currency=${session.currency} onClose=${close} />`}`;
}

function XReport({ onClose }) {
  const [report, setReport] = useState(null);
  const [load, isBusy, error] = useAction(async () => setReport(await readReport()));
  useEffect(() => { load(); }, []);
  return html`
    <${Dialog} title="X report" onClose=${onClose}>
      ${isBusy && html`<${Loading} />`}
      <${Problem}>${error}<//>
      ${report && html`<${Report} report=${report} />`}
    <//>`;
}

/** A movement whose answer was lost. */
function OpenMovement({ currency }) {
  const [movement, setMovement] = useState(null);
  const reload = async () => setMovement(await openMovement());
  const [ask, isBusy, error] = useAction(() => resumeMovement().finally(reload));
  const [drop] = useAction(() => forgetMovement().finally(reload));
  useEffect(() => { reload(); }, []);
  if (!movement) return html`<${Problem}>${error}<//>`;
  const { type, amountInPence } = movement.request;
  return html`
    <div class="card unsure" role="status">
      <h2>We don't know yet</h2>
      <p>${MOVEMENTS[type].label} of ${money(amountInPence, currency)}: the shop’s answer was lost. Asking again books
        nothing twice.</p>
      <${Problem}>${error}<//>
      <${Button} kind="primary" onPress=${ask} isBusy=${isBusy}>Ask again<//>
      ${error && html`<${Button} kind="quiet" onPress=${drop}>I looked, forget it<//>`}
    </div>`;
}

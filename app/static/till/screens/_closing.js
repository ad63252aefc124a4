// Closing the work session: counting, then its Z report.

import { money } from "../money.js";
import { end } from "../session.js";
import { update, useApp } from "../state.js";
import { Button, Dialog, Field, html, Note, Problem, useAction, useEffect, useState } from "../ui.js";
import { closeSession, closingRefusal } from "../work_session.js";
import { Count } from "./_count.js";

export function Closing({ session, onClose }) {
  const { unsent, isOnline } = useApp();
  const [refusal, setRefusal] = useState(null);
  const [counted, setCounted] = useState(null); // In minor units; null before anything was counted, NaN: no number.
  const [note, setNote] = useState("");
  const isCounted = Number.isInteger(counted);
  useEffect(() => { closingRefusal().then(setRefusal); }, [unsent, isOnline]);
  const [close, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    const reason = await closingRefusal();
    setRefusal(reason);
    if (reason || !isCounted) return;
    const report = await closeSession(session.id, counted, note.trim());
    update({ report });
    await end("The session is closed. Sign in to begin the next one.");
  });
  return html`
    <${Dialog} title="Close session" onClose=${onClose}>
      ${refusal && html`<${Note} kind="bad">${refusal}<//>`}
      <form class="stack" onSubmit=${close} novalidate>
        <p class="muted">Count the cash in the drawer, or enter 0. What was expected is in the Z report.</p>
        <${Count} currency=${session.currency} onChange=${setCounted} />
        <p class="between counted" role="status"><span class="strong">Counted</span>
          <span class="total">${isCounted ? money(counted, session.currency) : "–"}</span></p>
        <${Field} label="Note" id="closing-note" maxlength="500" value=${note} onInput=${setNote} />
        <${Problem}>${error ?? (Number.isNaN(counted) ? "A count is no number." : null)}<//>
        <p class="small">Closing is final: it makes the Z report and signs you out.</p>
        <${Button} kind="primary big" type="submit" isBusy=${isBusy} busy="Closing…"
          disabled=${Boolean(refusal) || !isCounted}>Close session<//>
      </form>
    <//>`;
}

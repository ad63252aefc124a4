// The locked till: a finger, a PIN, or signing out.

import { assertPasskey, gestureAlone, secretOfPasskey } from "../passkeys.js";
import { abandon, lockOut, unlock } from "../session.js";
import { keptWork } from "../signing_out.js";
import { useApp } from "../state.js";
import { Button, Field, html, Problem, Screen, useAction, useEffect, useState } from "../ui.js";
import { MOST_TRIES, openWithPasskey, openWithPin, waysToUnlock, WrongPin } from "../vault.js";
import { SignOut } from "./_sign_out.js";

export default function Locked() {
  const { user } = useApp();
  const [ways, setWays] = useState(null);
  const [kept, setKept] = useState([]);
  const [isRefused, setRefused] = useState(false);
  useEffect(() => {
    waysToUnlock().then(setWays);
    keptWork().then(setKept);
  }, []);
  return html`
    <${Screen} title="Locked" className="narrow">
      <p class="muted">${user?.displayName}${kept.length > 0 && html`<br />The till keeps ${kept.join(" and ")}.`}</p>
      ${ways && html`<${Unlock} ways=${ways} />`}
      <${SignOut} onRefused=${() => setRefused(true)} />
      ${isRefused && html`<${Button} kind="quiet" onPress=${abandon}>Sign in again, and keep the sales<//>`}
    <//>`;
}

/** One button for both: with a PIN typed it tries that, else the passkey. */
function Unlock({ ways }) {
  const [pin, type] = useState("");
  const [wrong, setWrong] = useState(null);
  const namePin = (error) => {
    if (error.isRefusedGesture && ways.pin) error.message += " Or use the PIN.";
    throw error;
  };
  const [open, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    setWrong(null);
    if (ways.passkey && !pin) return unlock(() => openWithFinger(ways.passkey).catch(namePin));
    if (!pin) return setWrong("Enter your PIN.");
    type("");
    return unlock(() => openWithPin(pin)).catch((failure) => {
      if (!(failure instanceof WrongPin)) throw failure;
      if (!failure.attemptsLeft) return lockOut();
      return setWrong(`${failure.message} ${failure.attemptsLeft} of ${MOST_TRIES} attempts left.`);
    });
  });
  return html`
    <form class="stack" onSubmit=${open} novalidate>
      ${ways.pin && html`<${Field} label="PIN" id="pin" type="password" inputmode="numeric" autocomplete="off"
        maxlength="6" value=${pin} onInput=${type} aria-invalid=${wrong ? "true" : undefined} />`}
      <${Problem}>${wrong ?? error}<//>
      <${Button} kind="primary huge" type="submit" icon=${ways.passkey ? "finger" : "lock"} isBusy=${isBusy}
        busy="Unlocking…">Unlock<//>
    </form>`;
}

async function openWithFinger(passkey) {
  if (!passkey.isVerified) return openWithPasskey(await secretOfPasskey(passkey));
  const { tokens } = await openWithPasskey(null);
  const assertion = navigator.onLine ? await assertPasskey(tokens.refresh) : null;
  if (!assertion) await gestureAlone(passkey);
  return { tokens, assertion };
}

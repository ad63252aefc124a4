// The locked till: a finger, a PIN, or signing out.

import { assertPasskey, gestureAlone, secretOfPasskey } from "../passkeys.js";
import { abandon, lockOut, signOut, unlock } from "../session.js";
import { useApp } from "../state.js";
import { Button, Field, html, Problem, Screen, useAction, useEffect, useState } from "../ui.js";
import { MOST_TRIES, openWithPasskey, openWithPin, waysToUnlock } from "../vault.js";

export default function Locked() {
  const { user, unsent, payment, sale } = useApp();
  const [ways, setWays] = useState(null);
  useEffect(() => { waysToUnlock().then(setWays); }, []);
  const [leave, isLeaving, problem] = useAction(signOut);
  const kept = [payment && "a payment", sale && "the sale under way", unsent > 0 && "sales that wait"].filter(Boolean);
  return html`
    <${Screen} title="Locked" className="narrow">
      <p class="muted">${user?.displayName}${kept.length > 0 && html`<br />The till keeps ${kept.join(" and ")}.`}</p>
      ${ways && html`<${Unlock} ways=${ways} />`}
      <${Problem}>${problem}<//>
      <${Button} kind="quiet" isBusy=${isLeaving} onPress=${() => leave()}>Sign out<//>
      ${problem && html`<${Button} kind="quiet" onPress=${abandon}>Sign in again, and keep the sales<//>`}
    <//>`;
}

/** One button for both: with a PIN typed it tries that, else the passkey. */
function Unlock({ ways }) {
  const [pin, type] = useState("");
  const [wrong, setWrong] = useState(null);
  const [open, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    setWrong(null);
    if (ways.passkey && !pin) return unlock(() => openWithFinger(ways.passkey));
    if (!pin) return setWrong("Enter your PIN.");
    const opened = await openWithPin(pin);
    type("");
    if (opened.refreshToken) return unlock(() => opened);
    if (!opened.attemptsLeft) return lockOut();
    return setWrong(`This PIN is wrong. ${opened.attemptsLeft} of ${MOST_TRIES} attempts left.`);
  });
  return html`
    <form class="stack" onSubmit=${open} novalidate>
      ${ways.pin && html`<${Field} label="PIN" id="pin" type="password" inputmode="numeric" autocomplete="off"
        maxlength="6" value=${pin} onInput=${type} />`}
      <${Problem}>${wrong ?? error}<//>
      <${Button} kind="primary huge" type="submit" icon=${ways.passkey ? "finger" : "lock"} isBusy=${isBusy}
        busy="Unlocking…">Unlock<//>
    </form>`;
}

async function openWithFinger(passkey) {
  if (!passkey.isVerified) return openWithPasskey(await secretOfPasskey(passkey));
  if (!navigator.onLine) {
    await gestureAlone(passkey);
    return openWithPasskey(null);
  }
  const { refreshToken } = await openWithPasskey(null);
  return { refreshToken, assertion: await assertPasskey(refreshToken) };
}

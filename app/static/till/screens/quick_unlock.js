// Setting up the quick unlock, after signing in and from the settings.

import { go } from "../navigation.js";
import { arePossible, makePasskey } from "../passkeys.js";
import { problemOfPin } from "../pins.js";
import { enter } from "../session.js";
import { useApp } from "../state.js";
import { currentTokens } from "../tokens.js";
import { Button, Field, html, Note, Problem, Screen, useAction, useEffect, useState } from "../ui.js";
import { setOpen, setPasskey, setPin, waysToUnlock } from "../vault.js";
import { SignOut } from "./_sign_out.js";

export default function QuickUnlock() {
  const { phase, configuration } = useApp();
  const [hasReader, setHasReader] = useState(false);
  const [ways, setWays] = useState({ pin: false, passkey: null });
  useEffect(() => {
    arePossible().then(setHasReader);
    waysToUnlock().then(setWays);
  }, []);
  const isFirst = phase === "setUp";
  const finish = () => (isFirst ? enter() : go("/till/settings"));
  const mayGoWithout = isFirst && configuration?.unlockRequired === false;
  return html`
    <${Screen} title="Quick unlock" back=${isFirst ? null : "/till/settings"} className="narrow">
      <p>The till locks after two minutes in the background and five minutes without use. Choose how to open it
        again.</p>
      ${hasReader && html`<${Passkey} isBound=${ways.passkey?.isVerified} onDone=${finish} />`}
      ${ways.passkey?.isVerified
        ? html`<${Note}>The shop verifies the passkey of this device at each unlock, so there is no PIN beside it.<//>`
        : html`<${Pin} hasReader=${hasReader} onDone=${finish} />`}
      ${mayGoWithout && html`<${NotNow} onDone=${finish} />`}
      ${isFirst && html`<${SignOut} />`}
    <//>`;
}

function Passkey({ isBound, onDone }) {
  const [make, isBusy, error] = useAction(async () => {
    const made = await makePasskey(isBound);
    await setPasskey(made, currentTokens());
    await onDone();
  });
  return html`
    <section class="card">
      <h2>Fingerprint or face</h2>
      <${Problem}>${error}<//>
      <${Button} kind="primary big" icon="finger" isBusy=${isBusy} busy="Waiting for the device…" onPress=${make}>
        Use fingerprint or face<//>
    </section>`;
}

function Pin({ hasReader, onDone }) {
  const [pin, choosePin] = useState("");
  const [again, repeat] = useState("");
  const [wrong, setWrong] = useState({});
  const [save, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    const problem = problemOfPin(pin);
    const differs = !problem && pin !== again ? "The two PINs differ. Type the same again." : null;
    setWrong({ pin: problem, again: differs });
    if (problem || differs) return;
    await setPin(pin, currentTokens());
    await onDone();
  });
  const digits = { type: "password", inputmode: "numeric", autocomplete: "off", maxlength: 6 };
  return html`
    <form class="card" onSubmit=${save} novalidate>
      <h2>${hasReader ? "Or a PIN" : "PIN"}</h2>
      <${Field} label="Choose a PIN" id="pin" value=${pin} onInput=${choosePin} error=${wrong.pin}
        help="4 to 6 digits." ...${digits} />
      <${Field} label="Repeat the PIN" id="pin-again" value=${again} onInput=${repeat} error=${wrong.again}
        ...${digits} />
      <${Problem}>${error}<//>
      <${Button} kind=${hasReader ? "big" : "primary big"} type="submit" isBusy=${isBusy} busy="Saving…">Save PIN<//>
    </form>`;
}

function NotNow({ onDone }) {
  const [skip, isBusy, error] = useAction(async () => {
    await setOpen(currentTokens());
    await onDone();
  });
  return html`<${Problem}>${error}<//><${Button} kind="quiet" isBusy=${isBusy} onPress=${skip}>Not now<//>`;
}

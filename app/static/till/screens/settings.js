// What this device does its own way, and who uses it.

import { forPeople } from "../failure.js";
import { installedVersion } from "../installation.js";
import { chosenLook, chooseLook } from "../look.js";
import { hasUnansweredRefund } from "../refunds.js";
import { chooseLocation, lock } from "../session.js";
import { app, useApp } from "../state.js";
import { switchTraining } from "../training.js";
import { Button, html, Icon, Problem, Screen, useAction, useEffect, useState } from "../ui.js";
import { needsGesture } from "../vault.js";
import PrinterSettings from "../printing/_printer_settings.js";
import { Devices } from "./_devices.js";
import { SignOut } from "./_sign_out.js";

const LOOKS = [["system", "System"], ["light", "Light"], ["dark", "Dark"]];

export default function Settings() {
  const { locations } = useApp();
  return html`
    <${Screen} title="Settings" back="/till">
      ${locations.length > 1 && html`<${Location} />`}
      <${Look} />
      <${Training} />
      <${Section} title="On this device">
        <nav class="links" aria-label="On this device">
          <a href="/till/unlock"><${Icon} name="finger" /><span>Quick unlock</span></a>
          <a href="/till/display" target="_blank" rel="noopener"><${Icon} name="qr" /><span>Customer display</span></a>
        </nav>
      <//>
      <${PrinterSettings} />
      <${Account} />
      <${Devices} />
    <//>`;
}

function Section({ title, children }) {
  return html`<section class="card" aria-label=${title}><h2>${title}</h2>${children}</section>`;
}

function Location() {
  const { locations, location, sale, isOnline } = useApp();
  const mayGoTo = (place) => !app().sale || place.id === app().sale.locationId; // It is finished where it was begun.
  const [choose, isBusy, error] = useAction(async (place) => {
    if (!mayGoTo(place)) throw forPeople("Finish the sale under way first.");
    if (await hasUnansweredRefund()) throw forPeople("A refund here is not answered yet. Open its payment first.");
    await chooseLocation(place);
  });
  return html`
    <${Section} title="Location">
      <fieldset disabled=${isBusy || !isOnline}><legend class="unseen">Location</legend>
        ${locations.map((place) => html`<label class="check" key=${place.id}>
          <input type="radio" name="location" checked=${place.id === location?.id}
            disabled=${!mayGoTo(place)} onChange=${() => choose(place)} />
          <span>${place.displayName}</span></label>`)}
      </fieldset>
      ${!isOnline && html`<p class="help">Another location can be chosen once there is a network.</p>`}
      ${sale && html`<p class="help">Finish the sale under way to choose another.</p>`}
      <${Problem}>${error}<//>
    <//>`;
}

function Look() {
  const [look, setLook] = useState(null);
  useEffect(() => { chosenLook().then(setLook); }, []);
  const pick = (name) => { setLook(name); chooseLook(name); };
  return html`
    <${Section} title="Look">
      <fieldset class="even"><legend class="unseen">Look</legend>
        ${LOOKS.map(([name, label]) => html`<label key=${name} class="option">
          <input type="radio" name="look" checked=${look === name} onChange=${() => pick(name)} />
          <span>${label}</span></label>`)}
      </fieldset>
    <//>`;
}

function Training() {
  const { isTraining } = useApp();
  const [turn, isBusy, error] = useAction(switchTraining);
  return html`
    <${Section} title="Training">
      <label class="switch">
        <input type="checkbox" role="switch" checked=${isTraining} disabled=${isBusy} aria-describedby="training-help"
          onChange=${(event) => { event.target.checked = isTraining; turn(!isTraining); }} />
        <span>Training mode</span></label>
      <p class="help" id="training-help">Sell and take payments with simulated cards, without the shop's account. What
        is sold in training never reaches the shop, and is removed when you switch training off.</p>
      <${Problem}>${error}<//>
    <//>`;
}

function Account() {
  const { user, agent } = useApp();
  const [version, setVersion] = useState(null);
  const [locks, setLocks] = useState(false); // Whether there is a way to unlock the till again.
  useEffect(() => {
    installedVersion().then(setVersion, () => {});
    needsGesture().then(setLocks);
  }, []);
  return html`
    <${Section} title="Account">
      <p><strong>${agent?.displayName ?? user?.displayName}</strong><br /><span class="muted">${user?.email}</span></p>
      <div class="even">
        ${locks && html`<${Button} icon="lock" onPress=${lock}>Lock now<//>`}
        <${SignOut} kind="danger" />
      </div>
      <p class="help">${version ? `Version ${version}` : "The app is not installed on this device."}</p>
    <//>`;
}

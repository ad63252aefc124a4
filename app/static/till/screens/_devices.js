import { del, get } from "../api.js";
import { dayOf, timeOf } from "../moments.js";
import { useApp } from "../state.js";
import { Button, Dialog, html, Loading, Problem, useAction, useEffect, useState } from "../ui.js";

/** Where the user is signed in. A lost phone is removed here: its sessions end. */
export function Devices() {
  const { isOnline } = useApp();
  const [devices, setDevices] = useState(null);
  const [removed, ask] = useState(null); // The device in question.
  const [load, , loadError] = useAction(async () => setDevices((await get("/v1/auth/devices")).items));
  const [remove, isBusy, error] = useAction(async () => {
    await del(`/v1/auth/devices/${encodeURIComponent(removed.id)}`);
    ask(null);
    await load();
  });
  useEffect(() => { if (isOnline) load(); }, [isOnline]);
  return html`
    <section class="card" aria-label="Devices"><h2>Devices</h2>
      <${Problem}>${loadError}<//>
      ${!devices && !isOnline && html`<p class="muted">Your devices are shown once there is a network.</p>`}
      ${!devices && isOnline && !loadError && html`<${Loading} />`}
      ${devices && html`<ul class="list">
        ${devices.map((one) => html`<${Device} key=${one.id} device=${one} onRemove=${() => ask(one)} />`)}</ul>`}
      ${removed && html`<${Dialog} title="Remove the device?" onClose=${() => ask(null)}
        foot=${html`<${Button} onPress=${() => ask(null)}>Keep it<//>
          <${Button} kind="danger" isBusy=${isBusy} onPress=${remove}>Remove<//>`}>
        <p>${removed.name ?? "The device"} is signed out at once. It needs your password to sign in again.</p>
        <${Problem}>${error}<//><//>`}
    </section>`;
}

function Device({ device, onRemove }) {
  const name = device.name ?? "A device without a name";
  const seen = `Last seen ${dayOf(device.lastSeenAt)}, ${timeOf(device.lastSeenAt)}`;
  return html`
    <li class="device">
      <span><span class="strong">${name}</span><br />
        <span class="muted small">${device.current ? "This device" : seen}</span></span>
      ${!device.current && html`<${Button} aria-label=${`Remove ${name}`} onPress=${onRemove}>Remove<//>`}
    </li>`;
}

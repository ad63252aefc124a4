import { del, get } from "../api.js";
import { serverNow } from "../clock.js";
import { dateOf, dayOf, timeOf } from "../moments.js";
import { useApp } from "../state.js";
import { Button, Dialog, html, Loading, Problem, useAction, useEffect, useState } from "../ui.js";

const DAY = 86_400_000; // Milliseconds.

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
        ${sorted(devices).map((one) =>
          html`<${Device} key=${one.id} device=${one} onRemove=${() => ask(one)} />`)}</ul>`}
      ${removed && html`<${Dialog} title="Remove the device?" onClose=${() => ask(null)}
        foot=${html`<${Button} onPress=${() => ask(null)}>Keep it<//>
          <${Button} kind="danger" isBusy=${isBusy} onPress=${remove}>Remove<//>`}>
        <p>${removed.name ?? "The device"} is signed out at once. It needs your password to sign in again.</p>
        <${Problem}>${error}<//><//>`}
    </section>`;
}

/** This device first, then by when they were seen. */
function sorted(devices) {
  return [...devices].sort((a, b) => b.current - a.current || b.lastSeenAt.localeCompare(a.lastSeenAt));
}

function seenWords(at) {
  const today = new Date(serverNow());
  const days = [today, new Date(today - DAY)].map((day) => dateOf(day));
  const day = ["today", "yesterday"][days.indexOf(dateOf(at))] ?? `on ${dayOf(at)}`;
  return `Last seen ${day} at ${timeOf(at)}`;
}

function Device({ device, onRemove }) {
  const name = device.name ?? "A device without a name";
  return html`
    <li class="device">
      <span><span class="strong">${name}</span><br />
        ${device.current ? html`<span class="badge good">This device</span>`
          : html`<span class="muted small">${seenWords(device.lastSeenAt)}</span>`}</span>
      ${!device.current && html`<${Button} aria-label=${`Remove ${name}`} onPress=${onRemove}>Remove<//>`}
    </li>`;
}

// The service worker: it makes the app start without a network. A new version waits until the next start, takes over
// before anything is shown, and says so.

import { read, remove, write } from "./store.js";
import { update } from "./state.js";

const UPDATED = "updated"; // In the store `device`.

/** Register the worker, and move to a version that is waiting. */
export async function install() {
  if (await read("device", UPDATED)) {
    await remove("device", UPDATED);
    update({ notice: "The till was updated to the newest version." });
  }
  if (!("serviceWorker" in navigator)) return;
  try {
    const known = await navigator.serviceWorker.getRegistration("/till");
    if (known?.waiting && await takeOver(known.waiting)) return;
    await navigator.serviceWorker.register("/till/sw.js", { scope: "/till", updateViaCache: "none" });
  } catch (error) {
    console.info("The app works without being installed here.", error);
  }
}

/** The version of the app that is installed on this device, null where none is. */
export async function installedVersion() {
  const worker = (await navigator.serviceWorker?.getRegistration("/till"))?.active;
  if (!worker) return null;
  const channel = new MessageChannel();
  const answer = new Promise((resolve) => { channel.port1.onmessage = ({ data }) => resolve(data); });
  worker.postMessage({ kind: "version" }, [channel.port2]);
  return answer;
}

/** Have the waiting version take over and load the app again; false where another tab still needs the old one. */
async function takeOver(waiting) {
  const took = new Promise((resolve) => {
    navigator.serviceWorker.addEventListener("controllerchange", () => resolve(true), { once: true });
    setTimeout(() => resolve(false), 3_000);
    const channel = new MessageChannel();
    channel.port1.onmessage = ({ data }) => { if (!data.takesOver) resolve(false); };
    waiting.postMessage({ kind: "takeOver" }, [channel.port2]);
  });
  if (!await took) return false;
  await write("device", true, UPDATED);
  location.reload();
  return new Promise(() => {});
}

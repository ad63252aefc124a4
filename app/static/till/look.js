// Light or dark: as the system has it, or as was chosen on this device.

import { read, remove, write } from "./store.js";

const LOOK = "look"; // In the store `device`.
const BARS = { light: "#ffffff", dark: "#15181c" }; // The browser's own bar above the app.

/** The chosen look: "system", "light" or "dark". */
export async function chosenLook() { return await read("device", LOOK) ?? "system"; }

export async function chooseLook(look) {
  await (look === "system" ? remove("device", LOOK) : write("device", look, LOOK));
  await applyLook();
}

/** Show the app in the chosen look. */
export async function applyLook() {
  const look = await chosenLook();
  if (look === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = look;
  for (const bar of document.querySelectorAll("meta[name='theme-color']")) {
    bar.content = BARS[look] ?? BARS[bar.media.includes("dark") ? "dark" : "light"];
  }
}

// What the screens are made of.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { ApiError } from "./api.js";
import { focusOn } from "./focus.js";
import { money } from "./money.js";
import { isAround } from "./navigation.js";
import { app, useApp } from "./state.js";

export { html, useEffect, useRef, useState };
export { useMemo } from "../vendor/htm-preact-3.1.1.module.js";

/** A screen: heading, a way back, the content, and what stays at the bottom within reach of a thumb. */
export function Screen({ title, back, aside, children, foot, className = "" }) {
  const heading = useRef(null);
  const { isTraining } = useApp();
  useEffect(() => {
    document.title = `${title} · Till`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return html`
    <header class="bar">
      ${back && html`<a class="back" href=${back} aria-label="Back"><${Icon} name="left" /></a>`}
      <h1 tabindex="-1" ref=${heading}>${title}</h1>
      ${aside}
    </header>
    ${isTraining && html`
      <aside class="training" aria-label="Training"><strong>Training</strong> No money moves.</aside>`}
    <${WayToSale} />
    <main class=${`screen ${className}`}>${children}</main>
    ${foot && html`<footer class="foot">${foot}</footer>`}`;
}

/** On the screens around the sale: that a payment is under way or was made, and the way there. */
function WayToSale() {
  const { phase, sale, payment } = useApp();
  if (phase !== "ready" || !sale || !isAround() || !(payment || sale.paid.length || sale.isFinished)) return null;
  const paid = sale.isFinished ? "The sale is paid." : "A sale is paid in part.";
  return html`<aside class="way-to-sale" aria-label="Sale under way">${payment ? "A payment is not final yet." : paid}
    <a href=${sale.isFinished && !payment ? "/till/done" : "/till/pay"}>Go on with the sale</a></aside>`;
}

const PATHS = {
  left: "m14 6-6 6 6 6",
  right: "m10 6 6 6-6 6",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  cross: "m6 6 12 12M18 6 6 18",
  tick: "m5 12.5 4.5 4.5L19 7.5",
  delete: "M9 6h11v12H9l-6-6zM12 9.5l5 5M17 9.5l-5 5",
  card: "M3 6h18v12H3zM3 10h18",
  cash: "M3 7h18v10H3zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14m9 16-4-4",
  scan: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M8 8v8M12 8v8M16 8v8",
  basket: "M5 9h14l-1.5 10h-11zM9 9l2-5M15 9l-2-5",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16m0 4v4l3 2",
  gear:
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M12 3v3M12 18v3M4.2 7.5l2.6 1.5M17.2 15l2.6 1.5M4.2 16.5 6.8 15M17.2 9l2.6-1.5",
  help: "M9.5 9a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 16.5h.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  finger: "M7 10a5 5 0 0 1 10 0v3a9 9 0 0 1-1 4M10 10a2 2 0 0 1 4 0v3a7 7 0 0 1-2 5M7 13v1a5 5 0 0 1-1 3",
  printer: "M7 8V4h10v4M5 8h14v8h-2M7 16H5M7 13h10v7H7z",
  park: "M8 5v14M16 5v14",
  drawer: "M4 8h16v10H4zM4 13h16M10 15.5h4",
  warn: "M12 4 3 19h18zM12 10v4M12 16.5h.01",
  qr: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h3v3M20 14v6h-6",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}

/** Run something that takes time, once at a time: a second press while it runs does nothing. Returns
    `[run, isBusy, error, clearError]`; `error` is a sentence. */
export function useAction(action) {
  const running = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const run = async (...given) => {
    if (running.current) return undefined;
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      return await action(...given);
    } catch (failure) {
      setError(sentence(failure));
      return undefined;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return [run, isBusy, error, () => setError(null)];
}

export const NOT_LOADED = "This part of the app could not be loaded yet. Check the network: it is tried again.";
const LOAD_AGAIN = 2_000; // Milliseconds.

/** The default export of a module, which is loaded once it is wanted, as often as that takes: `[Component, hasFailed]`.
    */
export function useModule(load, isWanted = true) {
  const [[Component, hasFailed], set] = useState([null, false]);
  useEffect(() => {
    if (!isWanted) return undefined;
    let [isLeft, timer] = [false, null];
    const attempt = () => load().then((module) => isLeft || set([module.default, false]), () => {
      if (isLeft) return;
      set([null, true]);
      timer = setTimeout(attempt, LOAD_AGAIN);
    });
    attempt();
    return () => { isLeft = true; clearTimeout(timer); };
  }, [isWanted]);
  return [Component, hasFailed];
}

/** A failure as a sentence for a person. What is no failure of the shop or of the user is also in the console. */
export function sentence(failure) {
  if (failure instanceof ApiError || failure.isForPeople) return failure.message;
  console.warn(failure);
  return "Something went wrong on this device. Try again.";
}

export function Button({ onPress, isBusy, busy, kind = "", icon, children, ...more }) {
  // While it works it is not `disabled`, which would take the focus from it.
  const press = isBusy ? (event) => event.preventDefault() : onPress;
  return html`
    <button type="button" class=${`btn ${kind}`} onClick=${press} aria-busy=${isBusy ? "true" : undefined}
      aria-disabled=${isBusy ? "true" : undefined} ...${more}>
      ${icon && html`<${Icon} name=${icon} />`}<span>${isBusy && busy ? busy : children}</span>
    </button>`;
}

/** What went wrong, in words. The element is always there, so that screen readers hear of changes. */
export function Problem({ children }) {
  return html`<div role="alert" class=${children ? "problem" : "unseen"}>${children}</div>`;
}

export function Note({ kind = "", children }) { return html`<p class=${`note ${kind}`}>${children}</p>`; }

/** A labelled text field. `error` stands below it. */
export function Field({ label, id, value, onInput, error, help, ...more }) {
  const said = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <input id=${id} value=${value} onInput=${(event) => onInput(event.target.value)} aria-describedby=${said}
        aria-invalid=${error ? "true" : undefined} ...${more} />
      ${help && html`<p class="help" id=${`${id}-help`}>${help}</p>`}
      ${error && html`<p class="error" id=${`${id}-error`}>${error}</p>`}
    </div>`;
}

const FIELDS = ".dialog-body :is(input, select, textarea)";

/** A dialog over the screen, which begins in its first field unless that would bring up a keyboard too early
    (`isKeyboardAway`). Escape closes it; the focus returns to where it was. */
export function Dialog({ title, onClose, children, foot, isKeyboardAway = false }) {
  const dialog = useRef(null);
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    if (!shown.open) shown.showModal();
    if (!isKeyboardAway) shown.querySelector(FIELDS)?.focus();
    return () => {
      shown.close(); // While it is open nothing outside of it can have the focus.
      focusOn(before);
    };
  }, []);
  return html`
    <dialog ref=${dialog} aria-labelledby="dialog-title" onCancel=${(event) => { event.preventDefault(); onClose(); }}>
      <header class="row apart"><h2 id="dialog-title" tabindex="-1">${title}</h2>
        <button type="button" class="btn quiet" aria-label="Close" onClick=${onClose}>
          <${Icon} name="cross" /></button></header>
      <div class="dialog-body">${children}</div>
      ${foot && html`<footer class="row">${foot}</footer>`}
    </dialog>`;
}

const LONG = 11; // Letters of an amount that a phone is wide enough for at full size.

/** An amount in the currency of the location. */
export function Amount({ of, currency, className = "" }) {
  const text = money(of, currency ?? app().configuration.currency);
  return html`<span class=${`n ${className} ${text.length > LONG ? "long" : ""}`}>${text}</span>`;
}

const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "00", "0"];

/** Digits for an amount in minor units. The keys of a keyboard do the same while no field has the focus. */
export function Keypad({ label, value, onChange, largest = 99_999_999 }) {
  const typed = useRef(value); // A quick typist is ahead of what is on the screen.
  typed.current = value;
  const change = (next) => {
    if (next > largest) return;
    typed.current = next;
    onChange(next);
  };
  const press = (key) => change(Number(`${typed.current}${key}`));
  const removeLast = () => change(Math.floor(typed.current / 10));
  useEffect(() => {
    const follow = (event) => {
      const isElsewhere = event.target.closest("input, textarea, select, dialog");
      if (isElsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^\d$/.test(event.key)) press(event.key);
      else if (event.key === "Backspace") removeLast();
    };
    document.addEventListener("keydown", follow);
    return () => document.removeEventListener("keydown", follow);
  });
  return html`
    <div class="keypad" role="group" aria-label=${label}>
      ${KEYS.map((key) => html`
        <button type="button" key=${key} class="btn key" onClick=${() => press(key)}>${key}</button>`)}
      <button type="button" class="btn key" aria-label="Delete" onClick=${removeLast}>
        <${Icon} name="delete" /></button>
    </div>`;
}

/** What is being loaded, announced once. */
export function Loading({ children = "Loading…" }) {
  return html`<p class="muted loading" role="status">${children}</p>`;
}

// Scanners that type as a keyboard: a burst of characters, faster than people type, and Enter. Whichever element has
// the focus, the code goes to `onScan`, and neither a field nor a button gets anything of it.

const GAP = 50; // Milliseconds between two keys of a scanner at most; people need twice as long.
const SHORTEST = 4; // Characters of a code.
const PATIENCE = 100; // Milliseconds after which held keys were typed by a person.
const NOT_TYPED_INTO = ["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"];

/** Follow a scanner. Returns the function that stops following it. */
export function followScanner(onScan) {
  const burst = new Burst();

  const follow = (event) => {
    if (burst.isReplaying || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.type === "password") return;
    if (event.key === "Enter") end(event);
    else if (event.key.length === 1) burst.add(event);
    else if (event.key !== "Shift") burst.release();
  };

  const end = (event) => {
    if (!burst.isCode(event)) {
      burst.release();
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    onScan(burst.take());
  };

  addEventListener("keydown", follow, true);
  return () => {
    removeEventListener("keydown", follow, true);
    burst.release();
  };
}

/** The latest keys without a pause between them. Those outside of text fields are held until it is clear who typed. */
class Burst {
  isReplaying = false;
  #keys = []; // Events.
  #before = null; // Of the text field: {field, value, start, end}.
  #timer = null;

  add(event) {
    if (!this.#follows(event)) this.release();
    const field = textField(event.target);
    if (!this.#keys.length && field) {
      this.#before = { field, value: field.value, start: field.selectionStart, end: field.selectionEnd };
    }
    this.#keys.push(event);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.release(), PATIENCE);
    if (field || event.key === " ") return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  isCode(enter) { return this.#keys.length >= SHORTEST && this.#follows(enter); }

  /** The code; the text field is again as it was before. */
  take() {
    const code = this.#keys.map(({ key }) => key).join("").trim();
    if (this.#before) {
      const { field, value, start, end } = this.#before;
      field.value = value;
      if (start !== null) field.setSelectionRange(start, end);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    this.#forget();
    return code;
  }

  /** A person typed: what was held goes where it was typed. */
  release() {
    const held = this.#keys.filter((event) => event.defaultPrevented && !textField(event.target));
    this.#forget();
    this.isReplaying = true;
    for (const { target, key, code, shiftKey } of held) {
      const place = target.isConnected ? target : document.body;
      place.dispatchEvent(new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: true, cancelable: true }));
    }
    this.isReplaying = false;
  }

  #follows(event) {
    const last = this.#keys.at(-1);
    return !last || (event.timeStamp - last.timeStamp <= GAP && event.target === last.target && !event.repeat);
  }

  #forget() {
    clearTimeout(this.#timer);
    this.#keys = [];
    this.#before = null;
  }
}

function textField(element) {
  if (element.tagName === "TEXTAREA") return element;
  return element.tagName === "INPUT" && !NOT_TYPED_INTO.includes(element.type) ? element : null;
}

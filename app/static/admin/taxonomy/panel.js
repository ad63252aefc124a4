// The taxonomy editor's panel: what is typed into it is not replaced meanwhile. Answers to edits
// elsewhere leave it as it is, and going to another level sends its forms first.
import { editor, itemOf, focusOn, mark } from "../tree/tree.js";
import { said, ask } from "./draft.js";

const panel = () => document.getElementById("panel");
export const inPanel = (element) => !!element && panel().contains(element);

const typed = new Set();
// Blank lines below "Add below" are nothing to send.
const says = (form) => !form.closest(".add-below") || [...form.querySelectorAll("textarea")].some((text) => text.value.trim());
const unsent = () => {
  const forms = [...typed].filter((form) => form.isConnected && says(form));
  // A form whose own buttons changed it has not been sent either, though it is a new one.
  const changed = panel().querySelector("form:has([data-unsaved])");
  return changed && !forms.includes(changed) ? [...forms, changed] : forms;
};
document.addEventListener("input", (event) => {
  if (inPanel(event.target) && event.target.form) typed.add(event.target.form);
});
// Before htmx asks, so that a form which is sent does not count as unsent in its own request.
document.addEventListener("submit", (event) => typed.delete(event.target), true);

// Leaving: forms of the draft are sent, one after the other. One that is saved for good asks first.
let leaving = null;
const isOfDraft = (form) => form.getAttribute("hx-post") === editor.dataset.draft;
const leave = (go) => {
  const form = unsent()[0];
  if (!form) { go(); return; }
  if (isOfDraft(form)) {
    leaving = { form, go };
    form.requestSubmit(form.querySelector("button.primary, button:not([type=button])") || undefined);
  } else if (confirm("What you typed here is not saved. Go on without it?")) {
    form.reset();
    forget(form);
    leave(go);
  } else stay();
};
const sent = (form, isTaken) => {
  if (!isTaken && inPanel(form) && form.matches("form")) typed.add(form);
  if (leaving?.form !== form) return;
  const { go } = leaving;
  leaving = null;
  if (isTaken && !typed.has(form)) leave(go);
  else stay();
};

// Show a level's panel. Arrow keys wait a moment, so that only the level at which they stop is fetched. `place` is the
// element to go to once it is there.
let timer = 0;
let awaited = null;
let place = null;
const shownLevel = () => panel().dataset.level;
const stay = () => { awaited = place = null; mark(itemOf(shownLevel())); };
const forget = (form) => {
  typed.delete(form);
  for (const sign of form.querySelectorAll("[data-unsaved]")) sign.remove();
};
export const show = (level, { attribute = "", delay = 0, isDropped = false, to = null } = {}) => {
  clearTimeout(timer);
  awaited = level;
  place = to;
  if (isDropped) unsent().forEach(forget);
  const go = () => ask("GET", editor.dataset.panel, attribute ? { level, attribute } : { level });
  timer = setTimeout(() => leave(go), delay);
};
export const choose = (item, more = {}) => {
  if (!item) return;
  focusOn(item);
  mark(item);
  show(item.dataset.id, more);
};
document.addEventListener("taxonomy:edit", () => { clearTimeout(timer); awaited = null; });
document.addEventListener("htmx:finally:request", (event) => {
  const { sourceElement, request, response } = event.detail.ctx;
  if (request.method === "POST") sent(sourceElement, !!response && response.status < 400);
  else if (sourceElement === said) fetched(new URL(request.action, document.baseURI).searchParams.get("level"));
});
const fetched = (level) => { if (awaited === level) stay(); };

// When an answer comes, the panel that it brings is left out if somebody types into the one that is there. Where that
// is known before, the shop need not make it.
const isTyping = () => inPanel(document.activeElement) && document.activeElement.matches("input, textarea, select");
// What was typed into a form since it was sent stays in it, but for a form that adds something: it has done its part.
const isChange = (form) => !!form.elements.edit?.value?.endsWith(".change");
const stillHolds = (form, source) => {
  if (form === source) return typed.has(form) && isChange(form);
  return !form.closest("#attribute")?.contains(source);
};
const keeps = (source) => unsent().some((form) => stillHolds(form, source)) || (source === said && isTyping());
document.addEventListener("htmx:before:request", (event) => {
  const { request, sourceElement } = event.detail.ctx;
  const isEdit = request.body instanceof URLSearchParams && request.body.has("version");
  if (isEdit && unsent().some((form) => stillHolds(form, sourceElement))) request.body.set("keep", "1");
});
const isForPanel = ({ target }) => target === "#panel" || target?.id === "panel";
export const keepsFrom = (tasks, { sourceElement, request }) => {
  if (!tasks.some(isForPanel) || !keeps(sourceElement)) return;
  const brings = request.method === "GET" ? [] : tasks.filter((task) => !isForPanel(task));
  tasks.splice(0, tasks.length, ...brings);
};
export const tidy = () => {
  for (const form of typed) if (!form.isConnected) typed.delete(form);
};

// The focus goes with the panel that it was in: to the button that was pressed, the other of its pair or the heading.
const button = (id) => {
  const pressed = id && document.getElementById(id);
  if (!pressed?.disabled) return pressed;
  return [...pressed.form.querySelectorAll("button")].find((other) => !other.disabled);
};
export const takeFocus = (id) => {
  const target = button(id) || panel().querySelector("[data-focus]") || document.getElementById("panel-heading");
  target?.focus();
};
export const goToPlace = () => {
  const found = place && document.getElementById(place);
  place = null;
  found?.scrollIntoView({ block: found === panel() ? "start" : "center" });
  if (found && found !== panel()) found.focus();
};

export const lookedAt = () => awaited || shownLevel();
export const isAwaited = () => awaited !== null;

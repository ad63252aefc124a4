// Taxonomy part of the product form: keys for the level picker, narrowing long lists of values, rows that go.
import "../page.js";
import "../rich_text.js";
import htmx from "../htmx.js";

// The level picker is a combobox: the focus stays in its field, and the arrows walk through the levels found.
const picker = (element) => element.closest?.("[data-level-picker]");
const boxOf = (place) => place.querySelector("[role=combobox]");
const found = (place) => [...place.querySelectorAll("[role=option]")];
const chosen = (place) => place.querySelector("[role=option][aria-selected=true]");
const choose = (place, option) => {
  for (const one of found(place)) one.setAttribute("aria-selected", String(one === option));
  if (option) boxOf(place).setAttribute("aria-activedescendant", option.id);
  else boxOf(place).removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
};
const close = (place) => {
  const list = place.querySelector("[role=listbox]");
  list.replaceChildren();
  list.hidden = true;
  delete list.dataset.words;
  list.nextElementSibling?.remove();
  choose(place, null);
  boxOf(place).setAttribute("aria-expanded", "false");
};

// What was found may be from before the last letter; a key that comes too soon waits for the answer.
const isFresh = (place) => place.querySelector("[role=listbox]").dataset.words === boxOf(place).value.trim();
const act = (key, place) => {
  const choices = found(place);
  const at = choices.indexOf(chosen(place));
  if (!choices.length) return;
  if (key === "ArrowDown") choose(place, choices[Math.min(at + 1, choices.length - 1)]);
  else if (at >= 0 || boxOf(place).value.trim()) choices[Math.max(at, 0)].click();
};
let waiting = "";
const soon = (key, place) => {
  if (isFresh(place)) { act(key, place); return; }
  waiting = key;
  boxOf(place).dispatchEvent(new Event("look"));
};

// Enter takes the level that is marked, or else the first; Esc puts the list away.
document.addEventListener("keydown", (event) => {
  const place = picker(event.target);
  if (!place || event.ctrlKey || event.metaKey) return;
  const isBox = event.target === boxOf(place);
  waiting = "";
  if (event.key === "Escape" && found(place).length) {
    event.preventDefault();
    close(place);
    boxOf(place).focus();
  } else if (isBox && event.key === "ArrowUp") {
    event.preventDefault();
    choose(place, found(place)[found(place).indexOf(chosen(place)) - 1]);
  } else if (isBox && ["ArrowDown", "Enter"].includes(event.key)) {
    event.preventDefault();
    soon(event.key, place);
  }
});
document.addEventListener("input", (event) => {
  const place = picker(event.target);
  if (place && event.target === boxOf(place)) choose(place, null);
});
document.addEventListener("htmx:after:swap", () => {
  for (const box of document.querySelectorAll("[data-level-picker] [role=combobox]")) {
    const place = picker(box);
    box.setAttribute("aria-expanded", String(found(place).length > 0));
    if (!chosen(place)) choose(place, document.getElementById(box.getAttribute("aria-activedescendant")));
    if (!waiting || document.activeElement !== box || !isFresh(place)) continue;
    const key = waiting;
    waiting = "";
    act(key, place);
  }
});

// A long list of values shows those that contain what is typed, and those that are ticked.
document.addEventListener("input", (event) => {
  const id = event.target.dataset && event.target.dataset.narrows;
  if (!id) return;
  const words = event.target.value.trim().toLowerCase();
  for (const label of document.getElementById(id).querySelectorAll("label")) {
    label.hidden = !label.textContent.toLowerCase().includes(words) && !label.querySelector(":checked");
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.dataset && event.target.dataset.narrows) event.preventDefault();
});

// A row of the worklist that is complete says so, then makes room; the next one is at hand.
const FIELD = "input:not([type=hidden]), select, textarea";
const leave = (row) => {
  const list = row.parentElement;
  const next = row.nextElementSibling || row.previousElementSibling;
  const wasHere = row.contains(document.activeElement);
  if (wasHere) next?.querySelector(FIELD)?.focus();
  row.remove();
  if (list && !list.childElementCount) refill(wasHere);
};
// After the last row of a page come those of the next one.
const refill = async (wasHere) => {
  await htmx.ajax("GET", location.href, { target: "#worklist", swap: "outerHTML" });
  if (wasHere && document.activeElement === document.body) {
    (document.querySelector(`.worklist :is(${FIELD})`) || document.getElementById("rows-heading"))?.focus();
  }
};
document.addEventListener("htmx:after:swap", () => {
  for (const row of document.querySelectorAll("[data-goes]:not([data-going])")) {
    row.dataset.going = "";
    setTimeout(() => leave(row), 2500);
  }
});

// The editor of a search rule: pins are dragged by their grip, and what shoppers would see follows each change.
import "../page.js";
import "../chip_picker.js";
import { followGrid } from "../product_grid.js";
import "../product_picker.js";
import "../row_drag.js";
import "../shop_frame.js";

// What shoppers would see depends on all fields but these, and on none of the step before.
const PASSED_OVER = new Set(["csrf_token", "revision", "note", "lookup", "layout", "undoable"]);
const matters = (name) => !PASSED_OVER.has(name) && !name.endsWith("Before");
const version = () => {
  const form = document.getElementById("details");
  if (!form) return "";
  return JSON.stringify([...new FormData(form)].filter(([name]) => matters(name)));
};
let requested = version(); // What the comparison is requested for,
let sent = requested; // what went to the server last,
let shown = requested; // what stands there,
let replayed = null; // and what was replayed.
const markReplay = () => {
  const mark = document.querySelector("[data-earlier]");
  if (mark) mark.hidden = replayed === null || replayed === version();
};
const changed = () => {
  markReplay();
  const now = version();
  if (now === requested) return; // Leaving a field changes nothing.
  requested = now;
  document.getElementById("try")?.dispatchEvent(new Event("rule-changed"));
};
const isPreview = (event) => event.detail?.ctx?.sourceElement?.id === "try";
document.addEventListener("htmx:before:request", (event) => {
  if (isPreview(event)) sent = version();
});
document.addEventListener("htmx:error", () => {
  requested = null;
});
document.addEventListener("htmx:after:swap", (event) => {
  if (isPreview(event)) shown = sent;
});
document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("hx-target") !== "#replay") return;
  replayed = shown;
  markReplay();
});
const isOurs = (element) => element.closest?.("#details") && !element.matches("[data-harmless]");
for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    if (isOurs(event.target)) changed();
  });
}
const parts = () => ["placing", "narrowing"].map((id) => document.getElementById(id));
let drawn = parts();
document.addEventListener("htmx:after:swap", () => {
  const now = parts();
  if (now.some((part, at) => part !== drawn[at])) changed();
  drawn = now;
});

// A position that another pin has is taken from it at once, as by dragging.
const press = (value) => {
  const button = document.querySelector("#placing [data-place]");
  if (!button) return;
  button.value = value;
  button.click();
};
document.addEventListener("change", (event) => {
  const field = event.target;
  const row = field.matches?.("[data-pins] .position") && field.closest("[data-row]");
  if (row) press(`at:${field.defaultValue}:${row.dataset.row}`);
});

// Enter in the lookup goes to what was found instead of saving.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches?.("[data-lookup] input")) return;
  event.preventDefault();
  document.querySelector("#found button")?.focus();
});

// From row_drag.js.
document.addEventListener("row:moved", (event) => {
  const { from, to } = event.detail;
  if (to === from) return;
  if (event.target.closest("[data-grid]")) pin(event.target, to);
  else press(`place:${to}:${event.target.dataset.row}`);
});

// In the grid a card is pinned where it is moved to. A buried product may stand between, so places are read from the cards.
const pin = (card, to) => {
  const places = [...card.parentElement.children].map((one) => Number(one.dataset.place));
  press(`put:${places.sort((one, other) => one - other)[to]}:${card.dataset.row}`);
};
followGrid(pin, (card, number) => press(`put:${number}:${card.dataset.row}`));

// Where the preview stands below the form, the bar that saves leads to it and says what it found.
document.addEventListener("htmx:after:swap", () => {
  const place = document.getElementById("preview-count");
  const brief = document.querySelector("#try [data-brief]")?.dataset.brief ?? "";
  if (place && place.dataset.brief !== brief) place.textContent = brief && `: ${brief}`;
  if (place) place.dataset.brief = brief;
});

// The address of the page has the layout of the preview, so that it stays where the page is loaded again.
document.addEventListener("htmx:after:swap", (event) => {
  if (event.target?.id !== "try" && event.detail?.ctx?.target?.id !== "try") return;
  const layout = document.querySelector("#try [name=layout]")?.value ?? "list";
  const address = new URL(location.href);
  if (layout === "list") address.searchParams.delete("show");
  else address.searchParams.set("show", layout);
  if (address.href !== location.href) history.replaceState(history.state, "", address);
});

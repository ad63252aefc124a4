// The editor of a search rule: pins are dragged by their grip, and what shoppers would see follows each change.
import "../page.js";
import "../row_drag.js";

// What shoppers would see depends on all fields but these.
const PASSED_OVER = new Set(["csrf_token", "revision", "note", "lookup"]);
const version = () => {
  const form = document.getElementById("details");
  if (!form) return "";
  return JSON.stringify([...new FormData(form)].filter(([name]) => !PASSED_OVER.has(name)));
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
let placing = document.getElementById("placing");
document.addEventListener("htmx:after:swap", () => {
  const now = document.getElementById("placing");
  if (now !== placing) changed();
  placing = now;
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
  if (event.target.closest("[data-pins]") && to !== from) press(`place:${to}:${event.target.dataset.row}`);
});

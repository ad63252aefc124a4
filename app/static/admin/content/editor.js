// The editor of content: rows of its lists are dragged by their grip, or moved with Alt and an arrow key.
import "../page.js";
import "../rich_text.js";
import "../product_picker.js";
import "../swatches.js";
import "../row_drag.js";

// The button beside the list sends the form with the new place.
const place = (row, to) => {
  const button = row.closest("section")?.querySelector("[data-place]");
  if (!button) return;
  button.value = `${button.dataset.place}:${to}:${row.dataset.row}`;
  button.click();
};

// From row_drag.js.
document.addEventListener("row:moved", (event) => {
  const { from, to } = event.detail;
  if (from !== to) place(event.target, to);
});

// In a grid Alt and an arrow key move a card by one or by a line, Home and End to the front and behind the others.
document.addEventListener("keydown", (event) => {
  const row = event.target.closest("[data-grid] > [data-row]");
  if (!row || !event.altKey) return;
  const cards = [...row.parentElement.children];
  const [from, pinned] = [cards.indexOf(row), Number(row.parentElement.dataset.grid)];
  const line = cards.filter((card) => card.offsetTop === cards[0].offsetTop).length;
  const last = from < pinned ? pinned - 1 : pinned;
  const to = { ArrowLeft: from - 1, ArrowRight: from + 1, ArrowUp: from - line, ArrowDown: from + line, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const within = Math.max(0, Math.min(last, to));
  if (within === from) return;
  // The card moves at once, so that the next press counts from there.
  const focused = document.activeElement;
  if (within < from) cards[within].before(row);
  else cards[within].after(row);
  focused.focus();
  place(row, within);
});

// The place of a card can be typed: Enter, or leaving the field, moves the card.
const go = (field) => {
  const to = Math.round(Number(field.value));
  if (to < 1 || field.value === field.dataset.last) return;
  field.dataset.last = field.value;
  place(field.closest("[data-row]"), to - 1);
};
document.addEventListener("change", (event) => {
  if (event.target.dataset.placeOf) go(event.target);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.dataset?.placeOf) return;
  event.preventDefault();
  go(event.target);
});

document.addEventListener("keydown", (event) => {
  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  const row = event.target.closest("[data-order]:not([data-grid]) > [data-row]");
  const button = row?.querySelector(event.key === "ArrowUp" ? "[id^=up-]" : "[id^=down-]");
  if (!button) return;
  event.preventDefault();
  button.focus();
  if (button.getAttribute("aria-disabled") !== "true") button.click();
});

// Enter in a lookup goes to what was found instead of saving.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.target.id !== "f-lookup") return;
  event.preventDefault();
  document.querySelector("#found button")?.focus();
});

// Enter in a field beside a button that adds what is typed presses that button.
document.addEventListener("keydown", (event) => {
  const button = document.getElementById(event.target.dataset?.enter);
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || !button) return;
  event.preventDefault();
  button.click();
});

// The editor of content: rows of its lists are dragged by their grip, or moved with Alt and an arrow key.
import "../page.js";
import "../chip_picker.js";
import { followGrid } from "../product_grid.js";
import "../product_picker.js";
import "../rich_text.js";
import "../row_drag.js";
import "../shop_frame.js";
import "../swatches.js";

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

followGrid(place, (row, number) => place(row, number - 1));

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

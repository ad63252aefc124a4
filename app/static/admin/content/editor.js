// The editor of content: rows of its lists are dragged by their grip, or moved with Alt and an arrow key.
import "../page.js";
import "../rich_text.js";
import "../row_drag.js";

// From row_drag.js. The button beside the list sends the form with the new place.
document.addEventListener("row:moved", (event) => {
  const { from, to } = event.detail;
  const button = event.target.closest("section")?.querySelector("[data-place]");
  if (!button || from === to) return;
  button.value = `${button.dataset.place}:${to}:${event.target.dataset.row}`;
  button.click();
});

document.addEventListener("keydown", (event) => {
  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  const row = event.target.closest("[data-order] > [data-row]");
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

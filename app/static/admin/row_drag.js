// Rows of a list, or cards of a grid, are dragged by their grip, so that text in them can still be selected. Where one is dropped elsewhere
// within its list it says so: `row:moved`, with the place that it had. Dropped on the part of what is buried, it is buried by its button.

const list = (element) => element.closest?.("[data-order], [data-pins]");
const place = (row) => [...list(row).children].filter((one) => one.matches("[data-row]")).indexOf(row);
let dragged = null;
let from = 0;
let part = null; // Of what is buried, while a row that can be is over it.

document.addEventListener("pointerdown", (event) => {
  const row = event.target.closest("[data-grip]")?.closest("[data-row]");
  if (row && list(row)) row.draggable = true;
});
document.addEventListener("pointerup", (event) => {
  event.target.closest?.("[data-row]")?.removeAttribute("draggable");
});
document.addEventListener("dragstart", (event) => {
  const row = event.target.closest?.("[data-row][draggable]");
  if (!row || !list(row)) return;
  dragged = row;
  from = place(row);
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "");
  row.classList.add("dragged");
});
const show = (over) => {
  part?.classList.remove("dropping");
  part = over;
  part?.classList.add("dropping");
};
const putBack = (row) => {
  const others = [...list(row).children].filter((one) => one.matches("[data-row]") && one !== row);
  if (from < others.length) others[from].before(row);
  else others.at(-1)?.after(row);
};
document.addEventListener("dragover", (event) => {
  show((dragged?.querySelector("[data-buries]") && event.target.closest?.("[data-buried]")) || null);
  if (part) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  if (!part) return;
  event.preventDefault();
  putBack(dragged);
  dragged.querySelector("[data-buries]").click();
});
document.addEventListener("dragover", (event) => {
  const over = dragged && event.target.closest?.("[data-row]");
  if (!over || list(over) !== list(dragged)) return;
  event.preventDefault();
  if (over === dragged) return;
  const box = over.getBoundingClientRect();
  const before = list(over).matches("[data-grid]")
    ? event.clientX < box.left + box.width / 2
    : event.clientY < box.top + box.height / 2;
  if (before) over.before(dragged);
  else over.after(dragged);
});
document.addEventListener("dragend", () => {
  if (!dragged) return;
  const row = dragged;
  dragged = null;
  show(null);
  row.classList.remove("dragged");
  row.removeAttribute("draggable");
  if (list(row)) row.dispatchEvent(new CustomEvent("row:moved", { bubbles: true, detail: { from, to: place(row) } }));
});

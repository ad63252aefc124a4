// Drag and drop in a tree: onto the upper edge of a row means before it, the lower edge behind it, the middle below it.
// The editor hears of it as `tree:dropped`: the item's id, the parent's, and that of a neighbour.
import { editor, linkOf, groupOf, parentOf, isOpen, firstIn, toggle } from "./tree.js";

let dragged = null;
let over = null;
let opening = 0;
const clear = () => {
  over?.row.classList.remove("drop-before", "drop-after", "drop-inside");
  over = null;
  clearTimeout(opening);
};
const placeOn = (row, y) => {
  const box = row.getBoundingClientRect();
  const part = (y - box.top) / box.height;
  return part < 0.28 ? "before" : part > 0.72 ? "after" : "inside";
};
const point = (row, place) => {
  if (over?.row === row && over.place === place) return;
  clear();
  over = { row, place };
  row.classList.add(`drop-${place}`);
  if (place === "inside") opening = setTimeout(() => toggle(row.parentElement, true), 600);
};
// Behind an open branch is the first place in it.
const destination = ({ row, place }) => {
  const item = row.parentElement;
  if (place === "after" && isOpen(item)) {
    const first = firstIn(groupOf(item));
    return { parent: item.dataset.id, before: first === dragged ? "" : first?.dataset.id || "" };
  }
  if (place === "inside") return { parent: item.dataset.id };
  return { parent: parentOf(item)?.dataset.id || "", [place]: item.dataset.id };
};

editor.addEventListener("pointerdown", (event) => {
  const row = event.target.closest(".tree .leaf");
  if (!row || event.pointerType === "touch") return;
  row.draggable = true;
  linkOf(row.parentElement)?.setAttribute("draggable", "false");
});
editor.addEventListener("dragstart", (event) => {
  if (!event.target.matches?.(".tree .leaf")) return;
  dragged = event.target.parentElement;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", linkOf(dragged)?.textContent || "");
  dragged.classList.add("dragged");
});
editor.addEventListener("dragover", (event) => {
  const row = dragged && event.target.closest(".tree .leaf");
  if (!row || dragged.contains(row)) { clear(); return; }
  event.preventDefault();
  point(row, placeOn(row, event.clientY));
});
editor.addEventListener("drop", (event) => {
  if (!dragged || !over) return;
  event.preventDefault();
  const detail = { id: dragged.dataset.id, ...destination(over) };
  editor.dispatchEvent(new CustomEvent("tree:dropped", { detail }));
  clear();
});
editor.addEventListener("dragend", () => {
  clear();
  dragged?.classList.remove("dragged");
  dragged = null;
});

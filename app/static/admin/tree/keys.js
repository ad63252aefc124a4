// Keys that every tree has; an editor adds its own. `go` is what happens at the item that the arrow keys reach.
import { editor, tree, items, groupOf, parentOf, isOpen, isSearching, setOpen, toggle, firstIn, lastIn, below, above } from "./tree.js";

const moves = (go) => ({
  ArrowDown: (item) => go(below(item)),
  ArrowUp: (item) => go(above(item)),
  ArrowRight: (item) => {
    if (!groupOf(item)) return;
    if (isOpen(item)) go(firstIn(groupOf(item)));
    else toggle(item, true);
  },
  ArrowLeft: (item) => {
    if (isOpen(item) && !isSearching()) toggle(item, false);
    else go(parentOf(item));
  },
  Home: () => go(firstIn(tree())),
  End: () => go(lastIn(tree())),
  "?": () => document.getElementById("tree-help").showPopover(),
  "*": (item) => setOpen(item.parentElement.querySelectorAll(":scope > li"), !isOpen(item)),
});
const nameOf = (event) => {
  const isShifted = event.shiftKey && (event.key.length > 1 || event.key === "N");
  return `${event.altKey ? "Alt+" : ""}${isShifted ? "Shift+" : ""}${event.key}`;
};
export const listen = (go, more) => {
  const keys = { ...moves(go), ...more };
  editor.addEventListener("keydown", (event) => {
    const item = event.target.closest("#tree [role=treeitem]");
    if (!item || event.target !== item || event.ctrlKey || event.metaKey) return;
    const act = keys[nameOf(event)];
    if (!act) return;
    event.preventDefault();
    act(item);
  });
};

// The tools above the tree.
editor.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-tree]");
  if (opener) setOpen(items(), opener.dataset.tree === "open");
});
for (const tool of editor.querySelectorAll("[data-tree], #tree-search")) tool.hidden = false;

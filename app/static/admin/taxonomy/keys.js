// Keys and clicks in the taxonomy editor's tree.
import {
  editor, tree, items, linkOf, groupOf, parentOf, isOpen, isSearching, setOpen, toggle, step, firstIn, lastIn, below, above,
} from "./tree.js";
import { send, turn } from "./draft.js";
import { show, choose } from "./panel.js";
import { rename, add } from "./names.js";
import * as search from "./search.js";
import htmx from "../htmx.js";

const go = (item) => choose(item, { delay: 150 });
const edit = (name) => (item) => send({ edit: `level.${name}`, level: item.dataset.level });
const goInside = (item) => {
  if (!groupOf(item)) return;
  if (isOpen(item)) go(firstIn(groupOf(item)));
  else toggle(item, true);
};
const goOutside = (item) => {
  if (isOpen(item) && !isSearching()) toggle(item, false);
  else go(parentOf(item));
};
const askWhereTo = (item) => {
  const address = `${editor.dataset.move}?level=${encodeURIComponent(item.dataset.level)}`;
  htmx.ajax("GET", address, { source: document.body, target: "#asked", swap: "innerHTML" });
};
const keys = {
  ArrowDown: (item) => go(below(item)),
  ArrowUp: (item) => go(above(item)),
  ArrowRight: goInside,
  ArrowLeft: goOutside,
  Home: () => go(firstIn(tree())),
  End: () => go(lastIn(tree())),
  " ": (item) => choose(item),
  Enter: rename,
  F2: rename,
  Insert: (item) => add(item, false),
  n: (item) => add(item, false),
  "Shift+Insert": (item) => add(item, true),
  "Shift+N": (item) => add(item, true),
  Delete: edit("delete"),
  "Alt+ArrowUp": edit("up"),
  "Alt+ArrowDown": edit("down"),
  "Alt+ArrowRight": edit("indent"),
  "Alt+ArrowLeft": edit("outdent"),
  m: askWhereTo,
  "/": () => search.begin(),
  "?": () => document.getElementById("tree-help").showPopover(),
  "*": (item) => setOpen(item.parentElement.querySelectorAll(":scope > li"), !isOpen(item)),
};
const nameOf = (event) => {
  const isShifted = event.shiftKey && (event.key.length > 1 || event.key === "N");
  return `${event.altKey ? "Alt+" : ""}${isShifted ? "Shift+" : ""}${event.key}`;
};
editor.addEventListener("keydown", (event) => {
  const item = event.target.closest("#tree [role=treeitem]");
  if (!item || event.target !== item || event.ctrlKey || event.metaKey) return;
  const act = keys[nameOf(event)];
  if (!act) return;
  event.preventDefault();
  act(item);
});

// Undo and redo, anywhere but where a field has its own.
const turnOf = (event) => {
  const key = event.key.toLowerCase();
  if (key === "y" || (key === "z" && event.shiftKey)) return "redo";
  return key === "z" ? "undo" : null;
};
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.closest("input, textarea, select, dialog")) return;
  const way = turnOf(event);
  if (!way) return;
  event.preventDefault();
  turn(way);
});

// On a narrow screen the panel is below the tree.
const narrow = matchMedia("(max-width: 60rem)");
const clickRow = (event, row) => {
  const item = row.parentElement;
  event.preventDefault();
  if (event.target.matches("i") && groupOf(item)) { step(item); toggle(item); return; }
  choose(item, { to: narrow.matches ? "panel" : null });
};
const clickLink = (event, link) => {
  const { level, attribute } = link.dataset;
  event.preventDefault();
  show(level, { attribute, isDropped: link.hasAttribute("data-cancel"), to: decodeURIComponent(link.hash.slice(1)) || null });
};
editor.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-tree]");
  if (opener) { setOpen(items(), opener.dataset.tree === "open"); return; }
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.target.matches("input")) return;
  const link = event.target.closest("a.to-level");
  const row = event.target.closest(".tree .leaf");
  if (link) clickLink(event, link);
  else if (row) clickRow(event, row);
});
editor.addEventListener("dblclick", (event) => {
  const link = event.target.closest(".tree .leaf > a");
  if (link) rename(link.closest("[role=treeitem]"));
});
for (const tool of editor.querySelectorAll("[data-tree], #tree-search")) tool.hidden = false;

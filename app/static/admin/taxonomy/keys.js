// Keys and clicks in the taxonomy editor's tree.
import { editor, linkOf, groupOf, toggle, step } from "../tree/tree.js";
import { listen } from "../tree/keys.js";
import { send, turn } from "./draft.js";
import { show, choose } from "./panel.js";
import { rename, add } from "./names.js";
import * as search from "../tree/search.js";
import htmx from "../htmx.js";

const go = (item) => choose(item, { delay: 150 });
const edit = (name) => (item) => send({ edit: `level.${name}`, level: item.dataset.id });
const askWhereTo = (item) => {
  const address = `${editor.dataset.move}?level=${encodeURIComponent(item.dataset.id)}`;
  htmx.ajax("GET", address, { source: document.body, target: "#question", swap: "innerHTML" });
};
listen(go, {
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
});
editor.addEventListener("tree:dropped", ({ detail: { id, ...target } }) => send({ edit: "level.move", level: id, ...target }));

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
search.listen(choose);

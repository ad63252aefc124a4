// The tree of categories: every change is one request, saved at once. Requests go one after the other, each with the
// version of the tree that the answer before it brought.
import "../page.js";
import "../dialogs.js";
import "../tree/drag.js";
import htmx from "../htmx.js";
import { editor, tree, itemOf, groupOf, current, focusOn, mark, settle, step, toggle } from "../tree/tree.js";
import { listen } from "../tree/keys.js";
import * as search from "../tree/search.js";

const said = document.getElementById("said");
const panel = () => document.getElementById("panel");
const idOf = (item) => item?.dataset.id;
const isLost = () => !document.activeElement || document.activeElement === document.body;

const post = (item, act, values) =>
  htmx.ajax("POST", `${editor.dataset.category}${idOf(item)}/${act}`, { source: said, swap: "none", values });
const move = (item, values) => post(item, "move", { version: "", ...values });
const ask = (act) => (item) => {
  const address = `${editor.dataset.category}${idOf(item)}/${act}`;
  htmx.ajax("GET", address, { source: document.body, target: "#question", swap: "innerHTML" });
};
document.addEventListener("htmx:before:request", ({ detail: { ctx: { request } } }) => {
  const isBody = request.body instanceof URLSearchParams || request.body instanceof FormData;
  if (isBody && request.body.has("version")) request.body.set("version", tree().dataset.version);
});

// The panel of an item. Arrow keys wait a moment, so that only the one at which they stop is fetched.
let timer = 0;
let wanted = null;
const load = (item, then) => {
  wanted = idOf(item);
  const address = `${editor.dataset.page}?category=${wanted}`;
  return htmx.ajax("GET", address, { source: said, target: "#panel", swap: "outerHTML" }).then(() => then?.());
};
const choose = (item, { delay = 0, then } = {}) => {
  if (!item) return;
  clearTimeout(timer);
  focusOn(item);
  mark(item);
  if (panel().dataset.id === idOf(item)) { then?.(); return; }
  timer = setTimeout(() => load(item, then), delay);
};
const go = (item) => choose(item, { delay: 150 });
const inPanel = (selector, open) => (item) => choose(item, {
  then: () => {
    if (open) panel().querySelector(open)?.setAttribute("open", "");
    const field = panel().querySelector(selector);
    field?.focus();
    field?.select?.();
  },
});

listen(go, {
  " ": (item) => choose(item),
  Enter: (item) => { location.href = `${editor.dataset.category}${idOf(item)}`; },
  F2: inPanel("#f-name"),
  Insert: inPanel("#add-names", "details.add-below"),
  n: inPanel("#add-names", "details.add-below"),
  Delete: ask("removal"),
  m: ask("move"),
  h: (item) => post(item, "visibility", { visible: item.querySelector(":scope > .leaf.off") ? "1" : "0" }),
  "Alt+ArrowUp": (item) => move(item, { direction: "up" }),
  "Alt+ArrowDown": (item) => move(item, { direction: "down" }),
  "Alt+ArrowRight": (item) => move(item, { direction: "in" }),
  "Alt+ArrowLeft": (item) => move(item, { direction: "out" }),
  "/": () => search.begin(),
});
search.listen(choose);
editor.addEventListener("tree:dropped", ({ detail: { id, ...target } }) => move(itemOf(id), target));

// On a narrow screen the panel is below the tree.
const narrow = matchMedia("(max-width: 60rem)");
editor.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const row = event.target.closest(".tree .leaf");
  const link = event.target.closest("a[data-to]");
  const item = row?.parentElement || itemOf(link?.dataset.to);
  if (!item) return;
  event.preventDefault();
  if (event.target.matches("i") && groupOf(item)) { step(item); toggle(item); return; }
  choose(item, { then: narrow.matches ? () => panel().scrollIntoView({ block: "start" }) : undefined });
});

// Where the focus was it stays: at the same button of the panel, in a field that was refused, else in the tree.
let before = null;
document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
  const focused = document.activeElement;
  if (!editor.contains(focused) && !editor.contains(ctx.sourceElement)) return;
  const isSaved = ctx.request.method === "POST" && ctx.response?.status < 400;
  const isField = isSaved && focused.matches("#panel :is(input, textarea)");
  before = { item: idOf(focused.closest("[role=treeitem]")), place: ctx.request.submitter?.id || focused.id, isField };
});
const restore = () => {
  const { item, place, isField } = before;
  if (!item && place && !isField) panel().querySelector(`#${CSS.escape(place)}`)?.focus();
  if (isLost() || isField) focusOn(itemOf(item) || itemOf(tree().dataset.chosen) || current());
};
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const isAnswer = ctx.request.method === "POST";
  settle(isAnswer ? itemOf(tree().dataset.chosen) : null);
  mark(itemOf(panel().dataset.id));
  search.again();
  if (before !== null && (isLost() || before.isField) && !document.querySelector("dialog[open]")) restore();
  before = null;
});
document.addEventListener("close", (event) => {
  if (event.target.matches("dialog")) focusOn(current());
}, true);

settle(itemOf(tree().dataset.chosen));

// Answers in the taxonomy editor: what they bring takes its place, and what the user does meanwhile stays.
import { editor, tree, rowOf, itemOf, current, focusOn, mark, settle } from "../tree/tree.js";
import { bar, isOfTree } from "./draft.js";
import { inPanel, keepsFrom, tidy, takeFocus, goToPlace, lookedAt, isAwaited } from "./panel.js";
import "../dialogs.js";
import * as names from "./names.js";
import * as search from "../tree/search.js";

const isOurs = ({ sourceElement }) => editor.contains(sourceElement) || sourceElement.matches("[data-closes]");
const chosen = () => itemOf(bar().dataset.level);
const isLost = () => !document.activeElement || document.activeElement === document.body;
const focusBefore = ({ sourceElement, request }) => {
  const focused = document.activeElement;
  if (tree().contains(focused)) return { in: "tree", level: focused.closest("[role=treeitem]")?.dataset.id };
  if (inPanel(focused) || inPanel(sourceElement)) return { in: "panel", id: request.submitter?.id || focused.id };
  return { in: "" };
};

const restoreFocus = (before) => {
  if (!isLost()) return;
  if (before.in === "tree") focusOn(itemOf(before.level) || chosen() || current());
  if (before.in === "panel") takeFocus(before.id);
};

// Where the focus was before each answer that is being put in.
const befores = new WeakMap();
document.addEventListener("htmx:before:swap", (event) => {
  const { ctx, tasks } = event.detail;
  if (!isOurs(ctx)) return;
  const before = focusBefore(ctx);
  befores.set(ctx, before);
  keepsFrom(tasks, ctx);
  names.hold();
  // Runs as soon as the answer is in, so that no key is pressed that the tree or the field does not get.
  queueMicrotask(() => {
    names.restore();
    if (before.in === "tree") restoreFocus(before);
  });
});

const showChanged = (item) => {
  const row = rowOf(item);
  row.classList.add("just-changed");
  setTimeout(() => row.classList.remove("just-changed"), 2000);
};
const followEdit = (item) => {
  const isFree = isLost() || tree().contains(document.activeElement);
  if (isFree && !names.isOpen() && !isAwaited()) focusOn(item);
  showChanged(item);
};
document.addEventListener("htmx:after:swap", (event) => {
  const { ctx } = event.detail;
  const before = befores.get(ctx);
  if (!before) return;
  tidy();
  settle(chosen());
  mark(itemOf(lookedAt()));
  search.again();
  if (isOfTree(ctx) && chosen()) followEdit(chosen());
  restoreFocus(before);
  if (ctx.request.method === "GET") goToPlace();
});

document.addEventListener("close", (event) => {
  if (event.target.id === "move-dialog") focusOn(current());
}, true);

settle(chosen());
if (chosen()) rowOf(chosen()).scrollIntoView({ block: "nearest" });

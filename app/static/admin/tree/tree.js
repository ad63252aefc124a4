// A tree that is edited (of a taxonomy, of categories): its items, which of them are open, where the focus is, and their
// neighbours. `data-id` names an item; `data-key` of the editor is the name under which this browser remembers.

export const editor = document.getElementById("editor");
export const tree = () => document.getElementById("tree");

export const rowOf = (item) => item.querySelector(":scope > .leaf");
export const linkOf = (item) => item.querySelector(":scope > .leaf > a");
export const groupOf = (item) => item.querySelector(":scope > ul");
export const parentOf = (item) => item.parentElement.closest("[role=treeitem]");
export const itemOf = (id) => !id ? null : tree().querySelector(`[role=treeitem][data-id="${CSS.escape(id)}"]`);
export const items = () => tree().querySelectorAll("[role=treeitem]");
export const isSearching = () => tree().classList.contains("searching");
export const isOpen = (item) => !!groupOf(item) && (isSearching() || item.getAttribute("aria-expanded") === "true");

// What is open is remembered in this browser, for the branches that somebody opened or closed by hand.
const memoryKey = editor.dataset.key;
const remembered = (() => {
  try { return new Map(JSON.parse(localStorage.getItem(memoryKey) || "[]")); } catch { return new Map(); }
})();
export const setOpen = (some, open) => {
  for (const item of some) {
    if (!groupOf(item)) continue;
    item.setAttribute("aria-expanded", String(open));
    remembered.set(item.dataset.id, open);
  }
  try { localStorage.setItem(memoryKey, JSON.stringify([...remembered].slice(-2000))); } catch { /* Then not. */ }
};
export const toggle = (item, open = !isOpen(item)) => setOpen([item], open);
const openAsRemembered = () => {
  for (const item of tree().querySelectorAll("[aria-expanded]")) {
    const open = remembered.get(item.dataset.id);
    if (open !== undefined) item.setAttribute("aria-expanded", String(open));
  }
};
const openWayTo = (item) => {
  for (let above = parentOf(item); above; above = parentOf(above)) {
    if (above.getAttribute("aria-expanded") === "false") above.setAttribute("aria-expanded", "true");
  }
};

// One item takes part in the order of the Tab key: the one that was focused last.
export const current = () => tree().querySelector('[role=treeitem][tabindex="0"]');
export const step = (item) => {
  const before = current();
  if (before && before !== item) before.tabIndex = -1;
  if (item) item.tabIndex = 0;
};
export const focusOn = (item) => {
  if (!item) return;
  openWayTo(item);
  step(item);
  item.focus({ preventScroll: true });
  rowOf(item).scrollIntoView({ block: "nearest" });
};
export const mark = (item) => {
  for (const other of tree().querySelectorAll('[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
  item?.setAttribute("aria-selected", "true");
};

// Neighbours among what is shown.
const shown = (item, way) => {
  do item = item && item[way]; while (item && item.hidden);
  return item;
};
export const firstIn = (list) => {
  const item = list.firstElementChild;
  return item && item.hidden ? shown(item, "nextElementSibling") : item;
};
export const lastIn = (list) => {
  let item = list.lastElementChild;
  if (item && item.hidden) item = shown(item, "previousElementSibling");
  return item && isOpen(item) ? lastIn(groupOf(item)) || item : item;
};
export const below = (item) => {
  if (isOpen(item) && firstIn(groupOf(item))) return firstIn(groupOf(item));
  for (let at = item; at; at = parentOf(at)) if (shown(at, "nextElementSibling")) return shown(at, "nextElementSibling");
  return null;
};
export const above = (item) => {
  const before = shown(item, "previousElementSibling");
  if (!before) return parentOf(item);
  return isOpen(before) ? lastIn(groupOf(before)) || before : before;
};

// What an answer brought takes its place among what is there.
export const settle = (chosen) => {
  openAsRemembered();
  for (const link of tree().querySelectorAll(".leaf > a:not([tabindex])")) link.tabIndex = -1;
  for (const item of tree().querySelectorAll("[role=treeitem]:not([tabindex])")) item.tabIndex = -1;
  tree().hidden = !tree().childElementCount;
  if (chosen) openWayTo(chosen);
  if (!current()) step(chosen || firstIn(tree()));
};

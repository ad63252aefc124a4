// Names that are typed in the taxonomy editor's tree itself: a row becomes a field. What was typed is taken when the
// field is left, too; Esc takes nothing.
import { tree, itemOf, linkOf, groupOf, parentOf, focusOn, toggle } from "../tree/tree.js";
import { send, say } from "./draft.js";

// The field that is open: {input, level, value, put, remove, take}.
let open = null;

const finish = (text, isLeft = false) => {
  if (!open || open.selection) return;
  const { level, value, remove, take } = open;
  open = null;
  if (text !== null && text.trim() && text.trim() !== value) { take(text); return; }
  remove();
  if (!isLeft) focusOn(itemOf(level));
};
const onKey = (event) => {
  event.stopPropagation();
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  finish(event.key === "Enter" ? event.target.value : null);
};
const onPaste = (event) => {
  const text = event.clipboardData.getData("text");
  if (!open.takesLines || !/\n./.test(text.trim())) return;
  event.preventDefault();
  finish(text);
};
const field = (label, value) => {
  const input = document.createElement("input");
  input.className = "tree-field";
  input.value = value;
  input.maxLength = 200;
  input.setAttribute("aria-label", label);
  input.addEventListener("keydown", onKey);
  input.addEventListener("paste", onPaste);
  input.addEventListener("blur", () => { if (open?.input === input) finish(input.value, true); });
  return input;
};
const begin = (opened, item) => {
  finish(open?.input.value ?? null, true);
  opened.put(item);
  open = opened;
  open.input.focus();
  open.input.select();
};

export const rename = (item) => {
  let link = linkOf(item);
  if (!link) return;
  const level = item.dataset.id;
  const input = field("Name of the level", link.textContent);
  const put = (at) => { link = linkOf(at); link.replaceWith(input); };
  const remove = () => input.replaceWith(link);
  const take = (name) => {
    link.textContent = name.trim();
    remove();
    send({ edit: "level.rename", level, name });
  };
  begin({ input, level, value: link.textContent, put, remove, take }, item);
};

const putRow = (row, item, isInside) => {
  if (!isInside) { item.after(row); return; }
  if (groupOf(item)) toggle(item, true);
  const list = groupOf(item) || document.createElement("ul");
  list.append(row);
  if (list.isConnected) return;
  list.className = "adding";
  item.append(list);
};
export const add = (item, isInside) => {
  const level = item.dataset.id;
  const input = field("Name of the new level", "");
  input.placeholder = isInside ? `A level below ${linkOf(item).textContent}` : "A new level";
  const row = document.createElement("li");
  row.className = "adding";
  row.setAttribute("role", "none");
  row.append(input);
  const remove = () => (row.closest("ul.adding") || row).remove();
  const take = (name) => {
    input.disabled = true;
    for (const place of [row, row.closest("ul.adding")]) place?.classList.add("sent");
    const parent = isInside ? level : parentOf(itemOf(level))?.dataset.id || "";
    send({ edit: "level.add", level, parent, after: isInside ? "" : level, name });
  };
  begin({ input, level, value: "", put: (at) => putRow(row, at, isInside), remove, take, takesLines: true }, item);
};
document.addEventListener("htmx:finally:request", () => {
  for (const row of tree().querySelectorAll(".adding.sent")) row.remove();
});

// A field that is open while an answer changes the tree is taken out and put back, with the cursor where it was.
export const hold = () => {
  if (!open) return;
  open.selection = [open.input.selectionStart, open.input.selectionEnd];
  open.remove();
};
export const restore = () => {
  if (!open) return;
  const { input, level, put, selection } = open;
  const item = itemOf(level);
  if (!item) {
    say(`“${input.value}” was not taken: its place in the tree is gone.`);
    open = null;
    return;
  }
  put(item);
  input.focus();
  input.setSelectionRange(...selection);
  open.selection = null;
};

export const isOpen = () => open !== null;

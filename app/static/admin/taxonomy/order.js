// Lists whose order matters: rows are dragged (row_drag.js), or moved with their buttons or Alt and an arrow key.
// Rows of a form only change places; other rows send the form that they hold, which says the new position.
import "../row_drag.js";

const list = (element) => element.closest?.("[data-order]");
const rows = (order) => [...order.children].filter((row) => row.matches("[data-row]"));

const ends = (order) => {
  const all = rows(order);
  for (const [place, row] of all.entries()) {
    for (const [way, end] of [["up", 0], ["down", all.length - 1]]) {
      const button = row.querySelector(`[data-move=${way}]`);
      if (button) button.disabled = place === end;
    }
  }
};

const moved = (order, row, before) => {
  if (order.matches("[data-in-form]")) {
    ends(order);
    row.querySelector("input:not([type=hidden])")?.dispatchEvent(new Event("input", { bubbles: true }));
    return;
  }
  const place = rows(order).indexOf(row);
  const button = row.querySelector("button[name=position]");
  if (place === before || !button) return;
  button.value = String(place);
  button.disabled = false;
  button.form.requestSubmit(button);
};

const step = (order, row, way) => {
  const beside = way === "up" ? row.previousElementSibling : row.nextElementSibling;
  if (!beside?.matches("[data-row]")) return;
  const before = rows(order).indexOf(row);
  if (way === "up") beside.before(row);
  else beside.after(row);
  row.scrollIntoView({ block: "nearest" });
  moved(order, row, before);
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-in-form] [data-move]");
  if (!button) return;
  event.preventDefault();
  step(list(button), button.closest("[data-row]"), button.dataset.move);
  if (button.disabled) button.closest("[data-row]").querySelector("input:not([type=hidden])")?.focus();
  else button.focus();
});

document.addEventListener("keydown", (event) => {
  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  const input = event.target.closest("[data-in-form] input");
  if (!input) return;
  event.preventDefault();
  step(list(input), input.closest("[data-row]"), event.key === "ArrowUp" ? "up" : "down");
  input.focus();
});

// From row_drag.js.
document.addEventListener("row:moved", (event) => {
  const order = list(event.target);
  if (order) moved(order, event.target, event.detail.from);
});

// A renamed value says at once what becomes of the products that hold it.
document.addEventListener("input", (event) => {
  const { was } = event.target.dataset;
  if (!was) return;
  const row = event.target.closest("[data-row]");
  const held = row.querySelector(".held")?.dataset.products || "";
  let note = row.querySelector(".renamed");
  if (event.target.value.trim() === was) {
    note?.remove();
    return;
  }
  if (!note) {
    note = document.createElement("p");
    note.className = "small renamed";
    row.append(note);
  }
  note.textContent = `was “${was}”${held ? `; ${held} will be updated` : ""}`;
});

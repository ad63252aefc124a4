// The editor of a search rule: pins are dragged by their grip, and what shoppers would see follows each change.
(() => {
  "use strict";

  const changed = () => document.getElementById("try")?.dispatchEvent(new Event("rule-changed"));
  const isOurs = (element) => element.closest?.("#details") && !element.matches("[data-harmless]");
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => {
      if (isOurs(event.target)) changed();
    });
  }
  let placing = document.getElementById("placing");
  document.addEventListener("htmx:after:swap", () => {
    const now = document.getElementById("placing");
    if (now !== placing) changed();
    placing = now;
  });

  // Enter in the lookup goes to what was found instead of saving.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches?.("[data-lookup] input")) return;
    event.preventDefault();
    document.querySelector("#found button")?.focus();
  });

  const rows = () => [...document.querySelectorAll("[data-pins] > [data-row]")];
  let dragged = null;
  let from = 0;
  document.addEventListener("pointerdown", (event) => {
    const row = event.target.closest("[data-grip]")?.closest("[data-pins] > [data-row]");
    if (row) row.draggable = true;
  });
  document.addEventListener("pointerup", (event) => {
    event.target.closest?.("[data-pins] > [data-row]")?.removeAttribute("draggable");
  });
  document.addEventListener("dragstart", (event) => {
    const row = event.target.closest?.("[data-pins] > [data-row][draggable]");
    if (!row) return;
    dragged = row;
    from = rows().indexOf(row);
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
    row.classList.add("dragged");
  });
  document.addEventListener("dragover", (event) => {
    const over = dragged && event.target.closest?.("[data-pins] > [data-row]");
    if (!over) return;
    event.preventDefault();
    if (over === dragged) return;
    const box = over.getBoundingClientRect();
    if (event.clientY < box.top + box.height / 2) over.before(dragged);
    else over.after(dragged);
  });
  document.addEventListener("dragend", () => {
    if (!dragged) return;
    const row = dragged;
    dragged = null;
    row.classList.remove("dragged");
    row.removeAttribute("draggable");
    const place = rows().indexOf(row);
    const button = document.querySelector("#placing [data-place]");
    if (place === from || !button) return;
    button.value = `place:${place}:${row.dataset.row}`;
    button.click();
  });
})();

// Taxonomy part of the product form: keys for the level picker, narrowing long lists of values, rows that go.
(() => {
  "use strict";

  const picker = (element) => element.closest("[data-level-picker]");
  const found = (place) => [...place.querySelectorAll(".level-choice")];
  const close = (place) => {
    place.querySelector("#level-choices").replaceChildren();
    place.querySelector("[role=combobox]").setAttribute("aria-expanded", "false");
  };

  // What was found may be from before the last letter; a key that comes too soon waits for the answer.
  const fresh = (place, box) => {
    const list = place.querySelector("[data-words]");
    return Boolean(list) && list.dataset.words === box.value.trim();
  };
  const act = (key, place, box) => {
    const choices = found(place);
    const at = choices.indexOf(document.activeElement);
    if (!choices.length) return;
    if (key === "ArrowDown") choices[Math.min(at + 1, choices.length - 1)].focus();
    else if (box.value.trim()) choices[0].click();
  };
  let waiting = "";

  // Arrows walk through the levels found, Enter takes the first, Esc puts them away.
  document.addEventListener("keydown", (event) => {
    const place = event.target.closest && picker(event.target);
    if (!place || event.ctrlKey || event.metaKey) return;
    const box = place.querySelector("[role=combobox]");
    const choices = found(place);
    const at = choices.indexOf(event.target);
    const fromBox = event.target === box;
    waiting = "";
    if (event.key === "Escape" && choices.length) {
      event.preventDefault();
      close(place);
      box.focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      event.preventDefault();
      (choices[at - 1] || box).focus();
    } else if ((event.key === "ArrowDown" && (fromBox || at >= 0)) || (event.key === "Enter" && fromBox)) {
      event.preventDefault();
      if (fromBox && !fresh(place, box)) waiting = event.key;
      else act(event.key, place, box);
    }
  });
  document.addEventListener("htmx:after:swap", () => {
    for (const box of document.querySelectorAll("[data-level-picker] [role=combobox]")) {
      const place = picker(box);
      box.setAttribute("aria-expanded", String(found(place).length > 0));
      if (!waiting || document.activeElement !== box || !fresh(place, box)) continue;
      const key = waiting;
      waiting = "";
      act(key, place, box);
    }
  });

  // A long list of values shows those that contain what is typed, and those that are ticked.
  document.addEventListener("input", (event) => {
    const id = event.target.dataset && event.target.dataset.narrows;
    if (!id) return;
    const words = event.target.value.trim().toLowerCase();
    for (const label of document.getElementById(id).querySelectorAll("label")) {
      label.hidden = !label.textContent.toLowerCase().includes(words) && !label.querySelector(":checked");
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.dataset && event.target.dataset.narrows) event.preventDefault();
  });

  // A row of the worklist that is complete says so, then makes room; the next one is at hand.
  const leave = (row) => {
    const next = row.nextElementSibling || row.previousElementSibling;
    if (row.contains(document.activeElement)) {
      const field = next && next.querySelector("input:not([type=hidden]), select, textarea");
      if (field) field.focus();
    }
    row.remove();
  };
  document.addEventListener("htmx:after:swap", () => {
    for (const row of document.querySelectorAll("[data-goes]:not([data-going])")) {
      row.dataset.going = "";
      setTimeout(() => leave(row), 2500);
    }
  });
})();

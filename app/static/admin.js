// What HTML cannot say by itself; pages work without it, except for dialogs in browsers without invoker commands.
(() => {
  "use strict";

  const typed = (form) => form.matches("form[data-warn]");
  const dirty = new Set();

  // Leaving with unsaved changes asks first, in forms that carry data-warn.
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form && typed(form) && !event.target.matches("[data-harmless]")) dirty.add(form);
  });
  const forget = (event) => dirty.delete(event.target);
  document.addEventListener("submit", forget);
  document.addEventListener("reset", forget);
  document.addEventListener("htmx:after:swap", () => {
    for (const form of dirty) if (!form.isConnected) dirty.delete(form);
    for (const mark of document.querySelectorAll("form[data-warn] [data-unsaved]")) dirty.add(mark.closest("form"));
  });
  window.addEventListener("beforeunload", (event) => {
    if ([...dirty].some((form) => form.isConnected)) event.preventDefault();
  });

  // Ctrl+Enter saves from any field.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    const form = event.target.form;
    if (!form) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("button.primary") || undefined);
  });

  // A pressed button shows that it works; a page that comes back from the browser's memory shows it ready again.
  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || !button.dataset.busy) return;
    if (event.defaultPrevented && !event.target.hasAttribute("hx-post")) return;
    setTimeout(() => {
      button.dataset.text = button.textContent;
      button.textContent = button.dataset.busy;
      button.disabled = true;
    });
  });
  const ready = () => {
    for (const button of document.querySelectorAll("button[data-text]")) {
      button.textContent = button.dataset.text;
      button.disabled = false;
      delete button.dataset.text;
    }
  };
  window.addEventListener("pageshow", ready);
  document.addEventListener("htmx:finally:request", ready);

  // When no answer comes, what was typed stays and the page says so.
  document.addEventListener("htmx:error", (event) => {
    const place = document.getElementById("flashes");
    if (!place || event.detail?.error?.name === "AbortError") return;
    const note = document.createElement("p");
    note.className = "note bad";
    note.textContent = "The shop did not answer, so nothing was saved. What you typed is still here: try again.";
    place.replaceChildren(note);
    note.scrollIntoView({ block: "nearest" });
  });

  // Dialogs, where the browser does not know invoker commands.
  if (!("command" in HTMLButtonElement.prototype)) {
    document.addEventListener("click", (event) => {
      const button = event.target.closest("button[commandfor]");
      const dialog = button && document.getElementById(button.getAttribute("commandfor"));
      if (!dialog) return;
      if (button.getAttribute("command") === "show-modal") dialog.showModal();
      else dialog.close();
    });
  }

  // A tick in the head of a table ticks its rows; what appears with a selection shows the count.
  const counted = (form) => {
    const ticked = form.querySelectorAll("[data-tick]:checked").length;
    for (const bar of form.querySelectorAll("[data-with-selection]")) bar.hidden = ticked === 0;
    for (const place of form.querySelectorAll("[data-selected-count]")) place.textContent = String(ticked);
  };
  document.addEventListener("change", (event) => {
    const box = event.target;
    const form = box.closest("form");
    if (!form) return;
    if (box.matches("[data-tick-all]")) {
      for (const row of form.querySelectorAll("[data-tick]")) row.checked = box.checked;
    }
    if (box.matches("[data-tick-all], [data-tick]")) counted(form);
    if (box.matches("[data-submits]")) form.requestSubmit();
  });

  // On a phone the tab of this page may lie beyond the edge.
  document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

  // The summary of a refused form is read first.
  const focus = (root) => root.querySelector?.("[data-focus]")?.focus();
  focus(document);
  document.addEventListener("htmx:after:swap", (event) => focus(event.target));

  // Escape closes what a link opened in its own place, and whoever closed it stands on that link again.
  let opened = null;
  document.addEventListener("click", (event) => {
    opened = event.target.closest("[data-opens]")?.dataset.opens ?? opened;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.target.closest?.("[data-esc]")?.querySelector("[data-closes]")?.click();
  });
  document.addEventListener("htmx:after:swap", () => {
    const opener = opened && document.querySelector(`[data-opens="${CSS.escape(opened)}"]`);
    if (!opener) return;
    opened = null;
    if (document.activeElement === document.body) opener.focus();
  });

  // An answer that lands away from its button comes into sight.
  document.addEventListener("htmx:after:swap", (event) => {
    const target = event.detail?.ctx?.target;
    if (!target?.matches?.("[data-show]")) return;
    target.scrollIntoView({ block: target.offsetHeight > innerHeight ? "start" : "nearest" });
  });
})();

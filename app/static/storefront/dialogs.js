// Dialogs close by their buttons and by a click beside them. That of the basket opens by itself when it comes; when it
// closes, the browser returns the focus to the button that was pressed.

const open = () => {
  const drawer = document.querySelector("#added dialog:not([open])");
  if (!drawer) return;
  drawer.addEventListener("close", () => drawer.remove());
  drawer.showModal();
};

document.addEventListener("htmx:after:swap", open);

document.addEventListener("click", (event) => {
  const beside = event.target.matches("dialog") && event.target;
  (beside || event.target.closest("[data-close]")?.closest("dialog"))?.close();
});

// A page that the browser shows again, as by its button for going back, begins without.
addEventListener("pagehide", () => document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close()));

// A dialog that an answer brings opens by itself, and closes when its form is sent.
document.addEventListener("htmx:after:swap", () => {
  const dialog = document.querySelector("dialog[data-open]:not([data-was-open])");
  if (!dialog) return;
  dialog.dataset.wasOpen = "";
  dialog.showModal();
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-closes]")) event.target.closest("dialog")?.close();
});

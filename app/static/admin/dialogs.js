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

// A search that was under way in it then is not finished: it would take away the form that is being sent.
const isOver = ({ request, sourceElement }) => request.method === "GET" && sourceElement.closest?.("dialog[data-was-open]:not([open])");
for (const kind of ["htmx:before:request", "htmx:before:swap"]) {
  document.addEventListener(kind, (event) => {
    if (isOver(event.detail.ctx)) event.preventDefault();
  });
}

// What HTML cannot say by itself, for every page of the admin; pages work without it, except for dialogs in browsers
// without invoker commands.
import "./error_summary.js";
import "./forms.js";
import "./selection.js";
import "./focus.js";
import "./palette.js";

// When no answer comes, what was typed stays and the page says so.
document.addEventListener("htmx:error", (event) => {
  const place = document.getElementById("flashes");
  if (!place || event.detail?.error?.name === "AbortError") return;
  const note = document.createElement("p");
  note.className = "note bad";
  const reads = event.detail?.ctx?.request?.method?.toUpperCase() === "GET";
  note.textContent = reads
    ? "The shop did not answer. Try again."
    : "The shop did not answer, so nothing was saved. What you typed is still here: try again.";
  place.replaceChildren(note);
  note.scrollIntoView({ block: "nearest" });
});

// A dialog whose form was refused comes open; from here on nothing beside it can be pressed. A closing dialog gives
// focus back to what had it before, so the button that opens it has it first.
for (const dialog of document.querySelectorAll("dialog[open]")) {
  dialog.close();
  document.querySelector(`button[command="show-modal"][commandfor="${CSS.escape(dialog.id)}"]`)?.focus();
  dialog.showModal();
}

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

// Help beside the page stays open while one works; Escape within it closes it, and the focus goes back to its button.
const help = document.getElementById("help-beside");
help?.addEventListener("keydown", (event) => {
  if (event.key === "Escape") help.hidePopover();
});
help?.addEventListener("beforetoggle", (event) => {
  if (event.newState !== "closed" || !help.contains(document.activeElement)) return;
  document.querySelector("[popovertarget=help-beside]").focus();
});

// Forms: unsaved changes, Ctrl+Enter, and buttons that show that they work.

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

// Ctrl+Enter saves from any field, and from the page around the only form that saves, or a grid beside it.
const onlyForm = () => {
  const forms = new Set([...document.querySelectorAll("main [data-saves]")].map((button) => button.form));
  return forms.size === 1 ? [...forms][0] : null;
};
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const isBeside = event.target.matches("body, main, h2[tabindex], [data-grid] *") && !document.querySelector("dialog:modal");
  const form = event.target.form ?? (isBeside ? onlyForm() : null);
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button.primary");
  if (!button?.disabled) form.requestSubmit(button || undefined);
});

// A pressed button shows that it works until its form is answered. Other answers leave it, such as those of what follows
// work under way; a page that comes back from the browser's memory shows it ready again.
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
const ready = (isAnswered) => {
  for (const button of document.querySelectorAll("button[data-text]")) {
    if (!isAnswered(button)) continue;
    button.textContent = button.dataset.text;
    button.disabled = false;
    delete button.dataset.text;
  }
};
window.addEventListener("pageshow", () => ready(() => true));
document.addEventListener("htmx:finally:request", ({ detail }) => ready(({ form }) => form === detail.ctx.sourceElement));

// A file that was sent is not chosen any more, so that the same one can be chosen again.
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches?.('form[hx-encoding="multipart/form-data"]')) ctx.sourceElement.reset();
});

// A preview that went well takes the errors of an earlier try to save with it.
document.addEventListener("htmx:after:swap", (event) => {
  const form = event.detail?.ctx?.sourceElement?.closest?.('button[hx-target="#try"]')?.form;
  if (!form || document.querySelector('#try [role="alert"]')) return;
  for (const note of form.querySelectorAll(".error, .note.bad")) note.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
});

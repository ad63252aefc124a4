// A lookup of products: the arrow keys walk through what was found; a click, or Enter, puts the SKU of a product into the
// field, or adds the product where the button says so.
import "./page.js";

const close = (picker) => picker.querySelector("[data-picks]").replaceChildren();

// A list that opens comes into sight with its field. What is found only after the form was sent opens no more.
const answered = new WeakSet();
document.addEventListener("submit", (event) => {
  for (const picker of event.target.querySelectorAll("[data-picker]")) {
    answered.add(picker);
    if (picker.querySelector(".found")) close(picker);
  }
});
document.addEventListener("input", (event) => {
  const picker = event.target.closest?.("[data-picker]");
  if (picker) answered.delete(picker);
});
document.addEventListener("htmx:after:swap", () => {
  const picker = document.activeElement?.closest("[data-picker]");
  if (!picker?.querySelector(".found")) return;
  if (answered.has(picker)) close(picker);
  else picker.scrollIntoView({ block: picker.offsetHeight > innerHeight - 160 ? "start" : "nearest" });
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-pick]");
  const picker = button?.closest("[data-picker]");
  if (!picker) return;
  const input = picker.querySelector("input");
  const note = document.createElement("p");
  note.className = "help";
  note.textContent = button.dataset.name;
  input.value = button.dataset.pick;
  picker.querySelector("[data-picks]").replaceChildren(note);
  input.focus();
  input.dispatchEvent(new Event("change", { bubbles: true }));
});

document.addEventListener("keydown", (event) => {
  const picker = event.target.closest?.("[data-picker]");
  if (!picker) return;
  const found = [...picker.querySelectorAll("[data-pick], [data-found]")];
  const input = picker.querySelector("input");
  if (event.key === "Escape" && found.length) {
    event.preventDefault();
    close(picker);
    input.focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !found.length) return;
  event.preventDefault();
  const next = found.indexOf(document.activeElement) + step;
  (found[next] || (next < 0 ? input : found.at(-1))).focus();
});

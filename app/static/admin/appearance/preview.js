// The home page beside the form of the shop's appearance, with what the form holds. It is scrolled to the section whose
// fields have the focus. Without scripts a button opens it in a tab of its own.
import "../page.js";
import "../shop_frame.js";

const place = document.querySelector("[data-preview]");
const frame = place.querySelector("iframe");
const state = place.querySelector("[data-preview-state]");
let latest = 0;
let timer = 0;

// Files that are chosen are kept by the form itself, which then names them.
function typed(form) {
  const data = new FormData(form);
  for (const name of [...data.keys()]) if (name.startsWith("upload/")) data.delete(name);
  return data;
}

async function show() {
  const form = document.getElementById("looks");
  const mine = ++latest;
  state.textContent = "Updating…";
  try {
    const answer = await fetch(place.dataset.preview, { method: "POST", body: typed(form) });
    const page = await answer.text();
    if (mine !== latest) return;
    if (answer.ok) frame.srcdoc = page;
    state.textContent = answer.ok ? "" : "The preview could not be drawn. Try again.";
  } catch {
    if (mine === latest) state.textContent = "The shop did not answer. Try again.";
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(show, 400);
}

// A colour that is picked is typed into its field.
document.addEventListener("input", (event) => {
  const field = document.getElementById(event.target.dataset.colourOf);
  if (field) {
    field.value = event.target.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (event.target.form?.id === "looks" && event.target.type !== "file") {
    const picker = document.querySelector(`[data-colour-of="${CSS.escape(event.target.id)}"]`);
    const typed = event.target.value.trim().toLowerCase();
    if (picker && /^#[0-9a-f]{6}(?![^])/.test(typed)) picker.value = typed;
    later();
  }
});
document.addEventListener("htmx:after:swap", () => later());

let shown = null; // What the preview was scrolled to: a section's number, or "foot"; null for the top.

// A section that shows nothing has none of its own, and the next one stands in its place.
function partOf(wanted) {
  const page = frame.contentDocument;
  if (wanted === "foot") return page.querySelector("footer");
  let part = page.querySelector(`[data-place="${wanted}"]`);
  while (part?.hidden) part = part.nextElementSibling;
  return part;
}

function reveal() {
  const region = place.querySelector("[role=region]");
  const part = shown === null ? null : partOf(shown);
  const scale = new DOMMatrix(getComputedStyle(frame).transform).a;
  region.scrollTop = part ? Math.max(0, part.getBoundingClientRect().top * scale - 24) : 0;
}

document.addEventListener("focusin", ({ target }) => {
  if (target.form?.id !== "looks" || target.closest(".save-bar")) return;
  const section = target.closest(".looks-section")?.id.replace("section-", "");
  shown = section ?? (target.closest("[aria-labelledby=contact-heading]") ? "foot" : null);
  reveal();
});
frame.addEventListener("load", reveal);
document.addEventListener("click", (event) => event.target.closest("[data-frame-width]") && reveal());
place.addEventListener("toggle", reveal);

show();

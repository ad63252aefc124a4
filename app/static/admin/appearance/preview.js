// The home page beside the form of the shop's appearance, with what the form holds, at the widths of a desktop and of a
// phone. Without scripts a button opens it in a tab of its own.
import "../page.js";
import "./frames.js";

const place = document.querySelector("[data-preview]");
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
    if (answer.ok) for (const frame of place.querySelectorAll("iframe")) frame.srcdoc = page;
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

show();

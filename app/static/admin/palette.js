// Find (Ctrl+K) and the keyboard shortcuts (?): pages that are shown in a dialog.
import htmx from "./htmx.js";

let dialog = null;
const makeDialog = () => {
  dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-labelledby", "shown-heading");
  dialog.addEventListener("close", () => dialog.replaceChildren());
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault(); // A search box would be emptied first.
    dialog.close();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // A click beside it.
  });
  document.body.append(dialog);
};

// Without an answer, and where the session has ended, the page itself says so.
const show = async (address) => {
  if (document.querySelector("dialog:modal")) return;
  const answer = await fetch(address, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!answer?.ok || answer.status === 204 || answer.redirected) {
    location.href = address;
    return;
  }
  const html = await answer.text();
  if (document.querySelector("dialog:modal")) return;
  if (!dialog) makeDialog();
  dialog.innerHTML = html;
  htmx.process(dialog);
  dialog.showModal();
};
const openers = { find: "[data-shows=find]", keys: "[data-shows=keys]" };
const press = (name) => document.querySelector(openers[name])?.click();

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-shows]");
  if (!opener || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  opener.closest("[popover]")?.hidePopover();
  show(`${opener.getAttribute("href")}?dialog`);
});

const isTyping = (element) => element.matches("input, textarea, select") || element.isContentEditable;
const isSeen = (element) => element.checkVisibility?.() ?? element.offsetParent !== null;
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !event.shiftKey) {
    event.preventDefault();
    press("find");
    return;
  }
  if (event.ctrlKey || event.metaKey || isTyping(event.target) || document.querySelector("dialog:modal")) return;
  if (event.key === "?") press("keys");
  if (event.key !== "/") return;
  const box = [...document.querySelectorAll("main input[type=search]")].find(isSeen);
  if (!box) return;
  event.preventDefault();
  box.focus();
});

const wordsIn = (box) => box.value.trim();
const found = () => [...document.querySelectorAll("#find-results a")];
const isAnswered = (words) => document.getElementById("find-results")?.dataset.words === words;

// Enter that came before the answer waits for it: what is shown until then was found by other words.
let awaited = null;
const waitFor = (box) => {
  awaited = wordsIn(box);
  htmx.trigger(box, "answer-now");
};
document.addEventListener("input", (event) => {
  if (event.target.closest("[data-find]")) awaited = null;
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  const form = ctx.sourceElement.closest("[data-find]");
  if (!form || awaited === null || ctx.status.includes("AbortError")) return;
  if (isAnswered(awaited)) found()[0]?.click();
  else if (new URL(ctx.request.action, location.href).searchParams.get("q")?.trim() !== awaited) return;
  else form.submit(); // The page itself says what is wrong.
  awaited = null;
});

// Arrows go through what was found, Enter opens the first.
document.addEventListener("keydown", (event) => {
  const form = document.querySelector("[data-find]");
  if (!form || event.defaultPrevented) return;
  const [box, links] = [form.elements.q, found()];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Enter" && document.activeElement === box && wordsIn(box)) {
    event.preventDefault();
    if (isAnswered(wordsIn(box))) links[0]?.click();
    else waitFor(box);
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !links.length || (at < 0 && document.activeElement !== box)) return;
  event.preventDefault();
  (links[at + step] ?? (at + step < 0 ? box : links.at(-1))).focus();
});

// Finding an operation: whatever does not hold all words is hidden, in the list and on the page.

const field = document.querySelector("#find");
const found = document.querySelector("#found");
const rows = [...document.querySelectorAll("[data-words]")];
const chapters = [...document.querySelectorAll(".chapter, .chapter-link")];

function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !words.every((word) => row.dataset.words.includes(word));
  for (const chapter of chapters) chapter.hidden = !chapter.querySelector("[data-words]:not([hidden])");
  const left = rows.filter((row) => row.matches(".operation") && !row.hidden).length;
  found.textContent = words.length ? `${left} of ${rows.length / 2} operations` : "";
}

field.addEventListener("input", filter);
field.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  field.value = "";
  filter();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input")) return;
  event.preventDefault();
  field.focus();
});

// An address that leads to what a search has hidden shows everything.
window.addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest("[hidden]")) return;
  field.value = "";
  filter();
  target.scrollIntoView();
});

// On a phone the contents stay closed, so that the page begins with what it is about.
const contents = document.querySelector(".toc");
if (matchMedia("(width < 60rem)").matches) contents.open = false;
field.addEventListener("input", () => { contents.open = true; });

filter();

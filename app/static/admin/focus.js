// Where the focus goes and what comes into sight, when a page or a fragment arrives.

// On a phone the tab of this page may lie beyond the edge.
for (const tab of document.querySelectorAll(".tabs [aria-current]")) tab.scrollIntoView({ block: "nearest", inline: "center" });

// The summary of a refused form is read first.
const focus = (root) => root.querySelector?.("[data-focus]")?.focus();
focus(document);
document.addEventListener("htmx:after:swap", (event) => focus(event.target));

// Where an answer took the pressed button away and no other script knows better, the heading of its section has the focus.
let section = null;
document.addEventListener("htmx:before:swap", () => {
  section = document.activeElement?.closest("section[aria-labelledby]")?.getAttribute("aria-labelledby");
});
document.addEventListener("htmx:after:swap", () => {
  const heading = section;
  setTimeout(() => {
    if (heading && document.activeElement === document.body) document.getElementById(heading)?.focus();
  });
});

// Escape closes what a link opened in its own place, and whoever closed it stands on that link again.
let opened = null;
document.addEventListener("click", (event) => {
  opened = event.target.closest("[data-opens]")?.dataset.opens ?? opened;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  event.target.closest?.("[data-esc]")?.querySelector("[data-closes]")?.click();
});
document.addEventListener("htmx:after:swap", () => {
  const opener = opened && document.querySelector(`[data-opens="${CSS.escape(opened)}"]`);
  if (!opener) return;
  opened = null;
  if (document.activeElement === document.body) opener.focus();
});

// A message above what is in sight is shown under the top bar, until the next press elsewhere: the page itself stays.
const main = document.querySelector("main");
let message = document.querySelector("#flashes .note");
document.addEventListener("htmx:after:swap", () => {
  const newest = document.querySelector("#flashes .note");
  if (!newest || newest === message) return;
  message = newest;
  const bar = document.querySelector(".top")?.offsetHeight ?? 0;
  main?.classList.toggle("has-news", newest.getBoundingClientRect().top < bar);
});
document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest("#flashes")) main?.classList.remove("has-news");
});

// An answer that lands away from its button comes into sight.
document.addEventListener("htmx:after:swap", (event) => {
  const named = event.detail?.ctx?.target; // As hx-status writes it, where that chose the place.
  const target = typeof named === "string" ? document.querySelector(named) : named;
  if (!target?.matches?.("[data-show]")) return;
  target.scrollIntoView({ block: target.offsetHeight > innerHeight ? "start" : "nearest" });
});

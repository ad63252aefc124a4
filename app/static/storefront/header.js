// The header goes while the page is scrolled down and comes back on the way up, so that search and basket are never far.
// While it has the focus, or its menu is open, it stays: browse.css, which reads how high it is.

const header = document.querySelector(".top");
const LEAST = 6; // Pixels: a resting finger trembles.
let last = scrollY;

const follow = () => {
  const moved = scrollY - last;
  if (scrollY <= header.offsetHeight) header.classList.remove("away");
  else if (Math.abs(moved) < LEAST) return;
  else header.classList.toggle("away", moved > 0);
  last = scrollY;
};

if (header) {
  header.classList.add("sticky");
  addEventListener("scroll", follow, { passive: true });
  const measure = () => document.documentElement.style.setProperty("--top-height", `${header.offsetHeight}px`);
  new ResizeObserver(measure).observe(header, { box: "border-box" });
}

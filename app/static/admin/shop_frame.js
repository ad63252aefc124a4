// A page of the shop as a picture: as wide as a screen, scaled to the room that it has, and as high as it is. The place
// around it is scrolled.

const HEIGHTS = { 1280: 960, 390: 780 }; // Of the screens, which some parts of a page depend on.
let width = matchMedia("(max-width: 40rem)").matches ? 390 : 1280;

function fit(place) {
  const [figure, frame] = [place.querySelector("figure"), place.querySelector("iframe")];
  const [region, box] = [figure.firstElementChild, frame.parentElement];
  for (const button of place.querySelectorAll("[data-frame-width]"))
    button.setAttribute("aria-pressed", String(Number(button.dataset.frameWidth) === width));
  figure.dataset.width = width;
  frame.style.width = `${width}px`;
  frame.style.height = `${HEIGHTS[width]}px`;
  const height = Math.max(HEIGHTS[width], frame.contentDocument?.documentElement?.scrollHeight ?? 0);
  const scale = Math.min(1, region.clientWidth / width);
  frame.style.height = `${height}px`;
  frame.style.transform = `scale(${scale})`;
  box.style.width = `${width * scale}px`;
  box.style.height = `${height * scale}px`;
}

// The box inside follows by what is set here, so that the width of the place alone matters.
const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => fit(target)));

function watch() {
  watcher.disconnect();
  for (const place of document.querySelectorAll("[data-shop-frame]")) {
    watcher.observe(place);
    place.querySelector("iframe").addEventListener("load", () => fit(place));
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-frame-width]");
  if (!button) return;
  width = Number(button.dataset.frameWidth);
  for (const place of document.querySelectorAll("[data-shop-frame]")) fit(place);
});
document.addEventListener("htmx:after:swap", watch);
watch();

// Pages of the shop as pictures: each frame is as wide as its screen, and scaled to the room that it has.

const HEIGHTS = { 1280: 960, 390: 780 };

function fit(figure) {
  const width = Number(figure.dataset.width);
  const [box, frame] = [figure.firstElementChild, figure.querySelector("iframe")];
  const scale = box.clientWidth / width;
  frame.style.width = `${width}px`;
  frame.style.height = `${HEIGHTS[width]}px`;
  frame.style.transform = `scale(${scale})`;
  box.style.height = `${HEIGHTS[width] * scale}px`;
}

const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => fit(target)));
for (const figure of document.querySelectorAll("figure[data-width]")) watcher.observe(figure);

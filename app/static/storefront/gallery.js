// Pictures of a product: small ones lead to the large ones, and a large one opens on the whole screen, where arrow keys,
// buttons and swipes lead on. There a press shows the pressed place twice as large, the button of the magnifier the middle,
// and arrow keys then move over the picture. Without this script the links do.

const placeIn = (row) => Math.round(row.scrollLeft / Math.max(row.clientWidth, 1));

const calm = matchMedia("(prefers-reduced-motion: reduce)");

const go = (row, place, behavior = calm.matches ? "instant" : "smooth") => row.scrollTo({ left: place * row.clientWidth, behavior });

const mark = (gallery, place) => {
  gallery.querySelectorAll(".thumbs a").forEach((link, number) => {
    if (number === place) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
};

const zoom = () => document.getElementById("zoom");
const reel = () => zoom().querySelector(".reel");

const shown = () => reel().children[placeIn(reel())];

const describe = () => {
  const all = reel().children.length;
  zoom().querySelector(".place").textContent = all > 1 ? `${placeIn(reel()) + 1} of ${all}` : "";
  zoom().querySelectorAll(".step").forEach((button) => (button.hidden = all === 1));
  zoom().querySelector(".magnify").setAttribute("aria-pressed", shown().matches(".twice"));
};

let wanted = null; // The picture that steps lead to while the reel is still on its way there.

// Behind the last picture comes the first.
const lead = (step) => {
  const all = reel().children.length;
  wanted = ((wanted ?? placeIn(reel())) + step + all) % all;
  go(reel(), wanted);
};

const enlarge = (link) => {
  const links = [...link.closest(".frames").querySelectorAll("a")];
  reel().replaceChildren(...links.map(({ href, firstElementChild: picture }) => {
    const [item, image] = [document.createElement("li"), document.createElement("img")];
    image.alt = (picture.querySelector("img") ?? picture).alt;
    image.src = href;
    item.append(image);
    return item;
  }));
  wanted = null;
  zoom().showModal();
  go(reel(), links.indexOf(link), "instant");
  describe();
};

// The place of a picture at these distances from the corner of the screen stays there while all around it grows.
const magnify = (item, x = item.clientWidth / 2, y = item.clientHeight / 2) => {
  const image = item.firstElementChild;
  const fit = Math.min(item.clientWidth / image.naturalWidth, item.clientHeight / image.naturalHeight);
  const [width, height] = [image.naturalWidth * fit, image.naturalHeight * fit];
  image.style.setProperty("--ratio", image.naturalWidth / image.naturalHeight);
  if (item.classList.toggle("twice")) {
    item.tabIndex = 0;
    const grown = (at, size, room) => 2 * (at - (room - size) / 2) - at;
    item.scrollTo(grown(x, width, item.clientWidth), grown(y, height, item.clientHeight));
  } else item.removeAttribute("tabindex");
  describe();
};

const STRIDE = 0.25; // Of the screen, for each press of an arrow key over a picture that is shown twice as large.
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const small = event.target.closest(".thumbs a");
  const large = event.target.closest(".frames a");
  const step = event.target.closest("#zoom .step");
  if (small) {
    event.preventDefault();
    go(small.closest(".gallery").querySelector(".frames"), [...small.closest(".thumbs").children].indexOf(small.parentElement));
  } else if (large && zoom()) {
    event.preventDefault();
    enlarge(large);
  } else if (step) {
    lead(step.matches(".on") ? 1 : -1);
  } else if (event.target.matches("#zoom img")) {
    magnify(event.target.parentElement, event.clientX, event.clientY);
  } else if (event.target.closest("#zoom .magnify")) {
    magnify(shown());
  }
});

document.addEventListener("keydown", (event) => {
  const [across, down] = ARROWS[event.key] ?? [0, 0];
  if (!(across || down) || !zoom()?.open) return;
  event.preventDefault();
  if (shown().matches(".twice")) shown().scrollBy(across * STRIDE * innerWidth, down * STRIDE * innerHeight);
  else if (across) lead(across);
});

// From where a finger or a wheel leads the reel, the next step goes on.
for (const type of ["pointerdown", "wheel"]) {
  document.addEventListener(type, ({ target }) => target.closest?.(".reel") && (wanted = null), { passive: true });
}
// A busy browser may end a step on the way, at the picture that is nearest.
document.addEventListener("scrollend", ({ target }) => {
  if (!target.matches?.(".reel") || wanted === null) return;
  if (placeIn(target) === wanted) wanted = null;
  else go(target, wanted, "instant");
  describe();
}, { capture: true });

document.addEventListener("scroll", ({ target }) => {
  if (!target.matches) return; // The page itself.
  if (target.matches(".frames")) mark(target.closest(".gallery"), placeIn(target));
  else if (target.matches(".reel")) describe();
}, { capture: true, passive: true });

// Pictures of a product: small ones lead to the large ones, and a large one opens on the whole screen, where arrow keys,
// buttons and swipes lead on and a press shows it twice as large. Without this script the links do.

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

const describe = () => {
  const all = reel().children.length;
  zoom().querySelector(".place").textContent = all > 1 ? `${placeIn(reel()) + 1} of ${all}` : "";
  zoom().querySelectorAll(".step").forEach((button) => (button.hidden = all === 1));
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
    event.target.parentElement.classList.toggle("twice");
  }
});

document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || !zoom()?.open) return;
  event.preventDefault();
  lead(step);
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

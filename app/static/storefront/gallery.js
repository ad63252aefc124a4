// A small picture of a product takes the place of the large one when it is pressed, where it is loaded as large as it is
// shown. Pressed there, or without this script anywhere, it opens by itself.

document.addEventListener("click", (event) => {
  const link = event.target.closest(".gallery a");
  if (!link || link.hasAttribute("aria-current") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const shown = link.parentElement.querySelector("[aria-current]");
  if (!shown) return;
  event.preventDefault();
  const source = link.querySelector("source");
  if (source) source.sizes = link.parentElement.dataset.sizes;
  shown.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
});

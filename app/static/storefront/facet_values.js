// Long filters: the button that unfolds all values, and the box that searches in them. All links are in the page.

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
const valuesOf = (box) => [...box.querySelectorAll(".choices li")];
const wordsOf = (item) => plain(item.querySelector("span").textContent);

const search = (box) => {
  const wanted = plain(box.querySelector(".find-value").value);
  const items = valuesOf(box);
  const fitting = items.filter((item) => wordsOf(item).includes(wanted));
  items.forEach((item) => (item.hidden = !fitting.includes(item)));
  box.classList.toggle("searched", wanted !== "");
  const count = fitting.length ? `${fitting.length} found` : "Nothing found";
  box.querySelector(".found-values").textContent = wanted ? count : "";
};

document.addEventListener("input", (event) => {
  if (event.target.matches(".find-value")) search(event.target.closest(".values"));
});

// Enter takes the only value that is left.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches?.(".find-value")) return;
  event.preventDefault();
  const left = valuesOf(event.target.closest(".values")).filter((item) => !item.hidden);
  if (event.target.value.trim() && left.length === 1) left[0].querySelector("a")?.click();
});

// Unfolded, the first of the values that were hidden has the focus.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".show-all");
  if (!button) return;
  const box = button.closest(".values");
  const hidden = valuesOf(box).filter((item) => !item.offsetParent);
  const unfolded = button.getAttribute("aria-expanded") === "false";
  button.setAttribute("aria-expanded", String(unfolded));
  if (unfolded) hidden.map((item) => item.querySelector("a")).find(Boolean)?.focus({ preventScroll: true });
  else button.scrollIntoView({ block: "nearest" });
});

// A new listing leaves unfolded what the shopper unfolded, and keeps the words of the box.
htmx.registerExtension("unfolded", {
  htmx_before_morph_attr: (element, { attrName }) => {
    const isOpen = attrName === "open" && element.matches(".rail details");
    const isUnfolded = attrName === "aria-expanded" && element.matches(".show-all");
    return !isOpen && !isUnfolded;
  },
});
document.addEventListener("htmx:after:swap", () => {
  document.querySelectorAll(".values:has(.find-value:not(:placeholder-shown))").forEach(search);
});

// Rating products by keyboard: 0 to 3 rate the product that has the focus and go on to the next, the arrows move,
// Delete takes a rating back.
import "../page.js";

const list = document.querySelector("[data-rates]");
const products = [...(list?.querySelectorAll("[data-rate]") ?? [])];
const grades = (product) => [...product.querySelectorAll('input[type="radio"]')];
const rated = (product) => grades(product).find((grade) => grade.checked);

const show = (product) => {
  (rated(product) ?? grades(product)[0]).focus();
  product.scrollIntoView({ block: "nearest" });
};
const count = () => {
  const left = document.querySelector("[data-left]");
  if (left) left.textContent = `${products.filter((one) => !rated(one)).length} of ${products.length} left`;
};
const goOn = (place) => {
  if (place + 1 < products.length) show(products[place + 1]);
  else document.querySelector("[data-saves]")?.focus();
};
const changed = (grade) => {
  grade.dispatchEvent(new Event("input", { bubbles: true }));
  count();
};

list?.addEventListener("change", count);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const place = products.findIndex((one) => one.contains(document.activeElement));
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (document.activeElement?.matches("[data-saves]") && event.key === "ArrowUp") {
    event.preventDefault();
    show(products.at(-1));
    return;
  }
  if (place < 0) return;
  if (step) {
    event.preventDefault(); // The arrows of a group of radio buttons would change the rating.
    if (step > 0) goOn(place);
    else if (place > 0) show(products[place - 1]);
    return;
  }
  const grade = grades(products[place]).find((one) => one.value === event.key);
  if (grade) {
    event.preventDefault();
    grade.checked = true;
    changed(grade);
    goOn(place);
  } else if (event.key === "Delete" || event.key === "Backspace") {
    event.preventDefault();
    const chosen = rated(products[place]);
    if (!chosen) return;
    chosen.checked = false;
    changed(chosen);
    chosen.focus();
  }
});

if (products.length) show(products.find((one) => !rated(one)) ?? products[0]);

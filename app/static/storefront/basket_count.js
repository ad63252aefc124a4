// Writes into the header how many items the basket holds: pages are the same for everybody, the number is the shopper's.

const show = () => {
  const link = document.getElementById("basket-link");
  const found = /(?:^|;\s*)basket-count=(\d{1,4})(?:;|$)/.exec(document.cookie);
  if (!link || !found) return;
  const count = link.querySelector(".count");
  const items = Number(found[1]);
  count.textContent = items || "";
  count.hidden = items === 0;
  link.setAttribute("aria-label", items ? `Basket, ${items} ${items === 1 ? "item" : "items"}` : "Basket");
};
show();
addEventListener("pageshow", show);
document.addEventListener("htmx:after:swap", show);

// The products that this browser looked at lately, below those of the page. The list is kept in this browser alone.

const VIEWED = "recently-viewed";
const MOST = 12;

const viewed = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(VIEWED) ?? "[]");
    return Array.isArray(kept) ? kept.filter((sku) => typeof sku === "string" && sku) : [];
  } catch {
    return []; // No storage, or something else in it.
  }
};

const keep = (skus) => {
  try {
    if (skus.length) localStorage.setItem(VIEWED, JSON.stringify(skus));
    else localStorage.removeItem(VIEWED);
  } catch {
    // A browser that keeps nothing.
  }
};

const draw = async (row, skus) => {
  const answer = await fetch(`/recently-viewed?${new URLSearchParams(skus.map((sku) => ["sku", sku]))}`).catch(() => null);
  const html = answer?.ok ? (await answer.text()).trim() : "";
  if (!html) return;
  row.innerHTML = html;
  row.setAttribute("aria-labelledby", "recently");
  row.hidden = false;
};

const row = document.getElementById("recently-viewed");
const own = document.querySelector(".product[data-sku]")?.dataset.sku;
const others = viewed().filter((sku) => sku !== own).slice(0, MOST);

if (row && others.length) draw(row, others);
if (own) keep([own, ...others].slice(0, MOST + 1));

row?.addEventListener("click", (event) => {
  if (!event.target.closest("[data-forget]")) return;
  keep(own ? [own] : []);
  row.replaceChildren();
  row.hidden = true;
});

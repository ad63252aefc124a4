// The filter sheet: choices are staged and applied together, by one request; its button says how many products they
// leave. A link to another path, such as the page of a brand, is followed at once, unless choices wait or the connection
// is lost: then its filter (data-facet-href) joins them, so that none is lost. Without scripts every link works as it is.

const AFTER_FACETS = ["price_min", "price_max", "q", "sort", "pageSizeOverride"]; // Addresses have one order.
const PAUSE = 250; // Milliseconds without a further choice, after which the products are counted.
const staged = new Map(); // By link: the address that chooses its value or lets it go.
let counting = null;
let applying = false;

const openSheet = () => document.querySelector("#filters:popover-open");
// Without a connection the rail of a wide screen stages choices too.
const stagingPlace = () => openSheet() ?? (navigator.onLine ? null : document.getElementById("filters"));
const isHere = (address) => new URL(address, location.href).pathname === location.pathname;
const pairsOf = (parameters) => new Set([...parameters].map((pair) => JSON.stringify(pair)));
const isChosen = (link) => "chosen" in link.dataset;

// The ends of ranges that were typed and not yet set.
const typed = (sheet) => [...sheet.querySelectorAll(".ends label input")].filter((field) => field.value !== field.defaultValue);

const waits = (sheet) => staged.size > 0 || typed(sheet).length > 0;

const addressOf = (sheet, link) => {
  if (isHere(link.href)) return new URL(link.href);
  const facet = link.dataset.facetHref;
  return facet && (waits(sheet) || !navigator.onLine) && isHere(facet) ? new URL(facet, location.href) : null;
};

const tick = (link, on) => {
  link.classList.toggle("on", on);
  if (on) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
};

const restore = (links) => {
  for (const link of links) {
    staged.delete(link);
    tick(link, isChosen(link));
  }
};

// Of the values of a rating only one is chosen.
const stage = (link, address) => {
  const on = !link.classList.contains("on");
  for (const other of link.closest("[data-one]")?.querySelectorAll("a") ?? []) {
    staged.delete(other);
    tick(other, !on && isChosen(other));
  }
  if (on === isChosen(link)) staged.delete(link);
  else staged.set(link, address);
  tick(link, on);
};

// A filter with as many chosen values as an address carries takes no other one, and says so.
const isFull = (link) => {
  const box = link.closest("[data-most]");
  if (!box || link.classList.contains("on") || box.querySelectorAll(".on").length < box.dataset.most) return false;
  box.querySelector(".found-values").textContent = `At most ${box.dataset.most} values of a filter can be chosen.`;
  return true;
};

const compare = ([a, aValue], [b, bValue]) => {
  const order = AFTER_FACETS.indexOf(a) - AFTER_FACETS.indexOf(b);
  return order || (a === b ? (aValue < bValue ? -1 : 1) : a < b ? -1 : 1);
};

const addressWith = (path, parameters) => {
  const pairs = [...parameters].filter(([name, value]) => value && name !== "p").sort(compare);
  return pairs.length ? `${path}?${new URLSearchParams(pairs)}` : path;
};

// The present address with all that was staged and typed.
const wanted = (fields) => {
  const now = pairsOf(new URLSearchParams(location.search));
  const pairs = new Set(now);
  for (const address of staged.values()) {
    const then = pairsOf(address.searchParams);
    now.forEach((pair) => then.has(pair) || pairs.delete(pair));
    then.forEach((pair) => now.has(pair) || pairs.add(pair));
  }
  const parameters = new URLSearchParams([...pairs].map((pair) => JSON.parse(pair)));
  fields.forEach((field) => parameters.set(field.name, field.value.trim()));
  return addressWith(location.pathname, parameters);
};

// Of a page whose ranges lead to another path, as those of a landing page do: what its forms send, together.
const elsewhere = (fields) => {
  const pairs = new Set(fields.flatMap((field) => [...pairsOf(new FormData(field.form))]));
  return addressWith(fields[0].form.action, [...pairs].map((pair) => JSON.parse(pair)));
};

const leadsAway = (fields) => fields.some((field) => !isHere(field.form.action));
const destination = (fields) => (leadsAway(fields) ? elsewhere(fields) : wanted(fields));

const labelOf = (sheet) => sheet.querySelector(".apply button span");
const label = (sheet, words) => (labelOf(sheet).textContent = words ?? labelOf(sheet).textContent);

// What the button says once the choices have settled: how many products they leave, as the server counts them.
const count = (sheet) => {
  sheet.toggleAttribute("data-waits", waits(sheet));
  counting?.abort();
  counting = new AbortController();
  const { signal } = counting;
  setTimeout(async () => {
    if (signal.aborted) return;
    const headers = { "HX-Request": "true", "HX-Target": "span#product-count" };
    try {
      const answer = await fetch(destination(typed(sheet)), { headers, signal });
      if (!answer.ok) throw new Error(answer.statusText);
      label(sheet, await answer.text());
    } catch {
      if (!signal.aborted) label(sheet, "Show products");
    }
  }, PAUSE);
};

// The listing is the source too: of it htmx tells the server which part is wanted. Else the whole page is the answer.
const fetchListing = (address) =>
  htmx.ajax("GET", address, { source: "#listing", target: "#listing", swap: "outerMorph show:none", push: "true" });

// The sheet stays until the products are there; when none come, what was chosen is still in it.
const apply = (sheet) => {
  const fields = typed(sheet);
  counting?.abort();
  if (leadsAway(fields)) return location.assign(elsewhere(fields));
  applying = waits(sheet);
  if (applying) fetchListing(wanted(fields));
  else sheet.hidePopover();
};

const discard = (sheet) => {
  counting?.abort();
  restore(sheet.querySelectorAll(".choices a"));
  sheet.querySelectorAll(".ends").forEach((form) => form.reset());
  sheet.removeAttribute("data-waits");
  label(sheet, sheet.dataset.plain);
};

const remember = (sheet) => (sheet.dataset.plain = labelOf(sheet).textContent);

// Before htmx hears of it, which would follow the link.
document.addEventListener("click", (event) => {
  const sheet = stagingPlace();
  if (!sheet?.contains(event.target)) return;
  if (event.target.closest(".apply button")) {
    event.preventDefault();
    return apply(sheet);
  }
  if (event.target.closest(".clear-filters")) return discard(sheet);
  const link = event.target.closest(".choices a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const address = addressOf(sheet, link);
  if (!address) return;
  event.preventDefault();
  event.stopPropagation();
  if (isFull(link)) return;
  stage(link, address);
  if (openSheet()) count(sheet);
  else document.dispatchEvent(new CustomEvent("filters:staged", { detail: { apply: () => apply(sheet) } }));
}, true);

document.addEventListener("input", (event) => {
  const sheet = openSheet();
  if (sheet?.contains(event.target) && event.target.closest(".ends")) count(sheet);
});

document.addEventListener("submit", (event) => {
  const sheet = openSheet();
  if (!sheet?.contains(event.target)) return;
  event.preventDefault();
  event.stopPropagation();
  apply(sheet);
}, true);

document.addEventListener("toggle", (event) => {
  if (event.target.id !== "filters") return;
  if (event.newState === "open") remember(event.target);
  else discard(event.target);
}, true);
document.addEventListener("htmx:after:swap", () => {
  counting?.abort();
  staged.clear();
  const sheet = openSheet();
  if (!sheet) return;
  remember(sheet);
  if (applying) sheet.hidePopover();
  else if (document.activeElement === document.body) document.getElementById("clear-filters").focus(); // Was a link.
  applying = false;
});
document.addEventListener("htmx:error", () => (applying = false));

// The filter sheet: choices are staged and applied together, by one request. A link to another path, such as the page of
// a brand, is followed at once, unless choices wait: then its filter (data-facet-href) joins them, so that none is lost.
// Without scripts every link works as it is.

const AFTER_FACETS = ["price_min", "price_max", "q", "sort", "pageSizeOverride"]; // Addresses have one order.
const staged = new Map(); // By link: the address that chooses its value or lets it go.

const openSheet = () => document.querySelector("#filters:popover-open");
const isHere = (address) => new URL(address, location.href).pathname === location.pathname;
const pairsOf = (parameters) => new Set([...parameters].map((pair) => JSON.stringify(pair)));

// The ends of ranges that were typed and not yet set.
const typed = (sheet) => [...sheet.querySelectorAll(".ends input:not([type=hidden])")].filter((field) => field.value !== field.defaultValue);

const addressOf = (sheet, link) => {
  if (isHere(link.href)) return new URL(link.href);
  const facet = link.dataset.facetHref;
  const waits = staged.size || typed(sheet).length;
  return facet && waits && isHere(facet) ? new URL(facet, location.href) : null;
};

const tick = (link) => {
  if (link.classList.toggle("on")) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
};

const label = (sheet) => {
  const words = sheet.querySelector(".apply button span");
  words.dataset.plain ??= words.textContent;
  words.textContent = staged.size ? `Apply (${staged.size} ${staged.size === 1 ? "choice" : "choices"})` : words.dataset.plain;
};

const stage = (sheet, link, address) => {
  if (!staged.delete(link)) staged.set(link, address);
  tick(link);
  label(sheet);
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

// The listing is the source too: of it htmx tells the server which part is wanted. Else the whole page is the answer.
const fetchListing = (address) =>
  htmx.ajax("GET", address, { source: "#listing", target: "#listing", swap: "outerMorph show:none", push: "true" });

const apply = (sheet) => {
  const fields = typed(sheet);
  if (fields.some((field) => !isHere(field.form.action))) location.assign(elsewhere(fields));
  else if (staged.size || fields.length) fetchListing(wanted(fields));
};

const discard = () => {
  staged.forEach((_, link) => tick(link));
  staged.clear();
  const sheet = document.getElementById("filters");
  if (sheet?.querySelector(".apply button span")?.dataset.plain) label(sheet);
};

// Before htmx hears of it, which would follow the link.
document.addEventListener("click", (event) => {
  const sheet = openSheet();
  if (!sheet?.contains(event.target)) return;
  if (event.target.closest(".apply button")) return apply(sheet);
  const link = event.target.closest(".choices a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const address = addressOf(sheet, link);
  if (!address) return;
  event.preventDefault();
  event.stopPropagation();
  stage(sheet, link, address);
}, true);

document.addEventListener("submit", (event) => {
  const sheet = openSheet();
  if (!sheet?.contains(event.target)) return;
  event.preventDefault();
  event.stopPropagation();
  apply(sheet);
  sheet.hidePopover();
}, true);

document.addEventListener("toggle", (event) => {
  if (event.target.id === "filters" && event.newState === "closed") discard();
}, true);
document.addEventListener("htmx:after:swap", () => {
  staged.clear();
});

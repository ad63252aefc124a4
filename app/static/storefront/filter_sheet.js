// The filter sheet: taps are staged until its button applies them together. What is chosen so far is always an address of
// the list itself: a value that has a page of its own is staged by its filter (data-facet-href), and its page is opened
// only where the one value is applied. After each tap the rail of that address says what every value would leave.
// Without scripts every link works as it is.

const LAST = ["price_min", "price_max", "q", "sort", "pageSizeOverride", "_by", "_as", "_is"]; // Addresses have one order.
const PAUSE = 150; // Milliseconds without a further tap, after which the rail is fetched.
const RAIL = { "HX-Request": "true", "HX-Target": "aside#filters" };
const COPIED = ["href", "rel", "data-facet-href", "data-chosen", "aria-current"];
const staged = new Map(); // By link that was tapped since the rail was fetched: the address to which it leads.
let opened = null; // A copy of the rail as the sheet was opened.
let start = null; // The address from which taps go on, where it is not that of the rail.
let good = null; // The latest address that has products.
let latest = ""; // The name of the latest choice.
let fetching = null;
let applying = false;
let isChoosing = false; // Whether the fields are being set by an address.

const openSheet = () => document.querySelector("#filters:popover-open");
// Without a connection the rail of a wide screen stages choices too.
const stagingPlace = () => openSheet() ?? (navigator.onLine ? null : document.getElementById("filters"));
const buttonOf = (sheet) => sheet.querySelector(".apply [data-address]");
const undoOf = (sheet) => sheet.querySelector(".undo-filter");
const fieldsOf = (sheet) => [...sheet.querySelectorAll(".ends label input")];
const isChosen = (link) => "chosen" in link.dataset;
const read = (address) => new URL(address, location.href);
const pairsOf = (address) => new Set([...read(address).searchParams].map((pair) => JSON.stringify(pair)));
const hasSame = (a, b) => read(a).pathname === read(b).pathname && pairsOf(a).symmetricDifference(pairsOf(b)).size === 0;

const tick = (link, on) => {
  link.classList.toggle("on", on);
  if (on) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
};

// Of the values of a rating only one is chosen.
const stage = (link) => {
  const on = !link.classList.contains("on");
  for (const other of link.closest("[data-one]")?.querySelectorAll("a") ?? []) {
    staged.delete(other);
    tick(other, !on && isChosen(other));
  }
  if (on === isChosen(link)) staged.delete(link);
  else staged.set(link, link.dataset.facetHref ?? link.href);
  tick(link, on);
  latest = labelOf(link);
};

// A filter with as many chosen values as an address carries takes no other one, and says so.
const isFull = (link) => {
  const box = link.closest("[data-most]");
  if (!box || link.classList.contains("on") || box.querySelectorAll(".on").length < box.dataset.most) return false;
  box.querySelector(".found-values").textContent = `At most ${box.dataset.most} values of a filter can be chosen.`;
  return true;
};

const compare = ([a, aValue], [b, bValue]) => {
  const order = LAST.indexOf(a) - LAST.indexOf(b);
  return order || (a === b ? (aValue < bValue ? -1 : 1) : a < b ? -1 : 1);
};

// The address of all that is chosen in the sheet.
const wanted = (sheet) => {
  const now = pairsOf(sheet.dataset.address);
  const pairs = pairsOf(start ?? sheet.dataset.address);
  for (const address of staged.values()) {
    const then = pairsOf(address);
    now.forEach((pair) => then.has(pair) || pairs.delete(pair));
    then.forEach((pair) => now.has(pair) || pairs.add(pair));
  }
  const parameters = new URLSearchParams([...pairs].map((pair) => JSON.parse(pair)));
  fieldsOf(sheet).forEach((field) => parameters.set(field.name, field.value.trim()));
  const sent = [...parameters].filter(([name, value]) => value && name !== "p").sort(compare);
  const { pathname } = read(sheet.dataset.address);
  return sent.length ? `${pathname}?${new URLSearchParams(sent)}` : pathname;
};

// A value in the rail: its label, which is its own among those of its filter.
const labelOf = (item) => item.querySelector("span").textContent;
const listOf = (group) => (group.matches(".choices") ? group : group.querySelector(".choices"));
const named = (elements, name) => new Map([...elements].map((element) => [name(element), element]));
const groupsOf = (rail) => named(rail.querySelectorAll("[data-facet]"), (group) => group.dataset.facet);

const setCount = (link, count) => {
  const shown = link.querySelector("small");
  if (shown) shown.textContent = count;
  if (count === "0" && !isChosen(link)) link.setAttribute("aria-disabled", "true");
  else link.removeAttribute("aria-disabled");
};

// Show a value as another rail has it. One that is missing there would leave nothing.
const updateItem = (item, source) => {
  const [link, other] = [item.querySelector("a"), source?.querySelector("a")];
  if (other && !link) return item.replaceChildren(...source.cloneNode(true).childNodes);
  if (!link) return;
  if (other) {
    for (const name of COPIED) {
      if (other.hasAttribute(name)) link.setAttribute(name, other.getAttribute(name));
      else link.removeAttribute(name);
    }
    link.classList.toggle("on", isChosen(other));
  } else if (!source) {
    delete link.dataset.chosen;
    tick(link, false);
  }
  setCount(link, source ? (source.querySelector("small")?.textContent ?? "") : "0");
};

const addItem = (list, source) => {
  const item = source.cloneNode(true);
  const link = item.querySelector("a");
  if (link) link.id = `${link.id.replace(/\d+$/, "")}${list.children.length + 1}`;
  list.append(item);
};

// What is there stays where it is, so that nothing moves below a finger.
const updateList = (list, source, isWhole) => {
  const wantedItems = source ? named(source.children, labelOf) : new Map();
  for (const [label, item] of named(list.children, labelOf)) {
    if (isWhole && !wantedItems.has(label)) item.remove();
    else updateItem(item, wantedItems.get(label));
    wantedItems.delete(label);
  }
  wantedItems.forEach((item) => addItem(list, item));
};

// The bounds of a range follow what is chosen. One with nothing left to choose between waits, and stays where it is.
const updateRange = (form, source) => {
  form.querySelectorAll("label input, .slider input").forEach((input) => (input.disabled = !source));
  if (!source) return form.querySelectorAll("label input").forEach((field) => (field.placeholder = ""));
  const [slider, other] = [form, source].map((place) => place.querySelector(".slider"));
  if (!other) slider?.remove();
  else if (!slider) form.querySelector("label").before(other.cloneNode(true));
  else {
    const handles = other.querySelectorAll("input");
    slider.querySelectorAll("input").forEach((handle, place) => {
      for (const name of ["min", "max", "step"]) handle[name] = handles[place][name];
    });
  }
  const fields = source.querySelectorAll("label input");
  form.querySelectorAll("label input").forEach((field, place) => (field.placeholder = fields[place].placeholder));
  isChoosing = true;
  form.querySelector("label input").dispatchEvent(new Event("input", { bubbles: true })); // Its slider follows.
  isChoosing = false;
};

const showRail = (sheet, rail, isWhole = false) => {
  const [present, others] = [groupsOf(sheet), groupsOf(rail)];
  for (const [facet, group] of present) {
    const list = listOf(group);
    if (isWhole && !others.has(facet)) group.remove();
    else if (list) updateList(list, others.has(facet) ? listOf(others.get(facet)) : null, isWhole);
    else updateRange(group.querySelector(".ends"), others.get(facet)?.querySelector(".ends"));
  }
  let before = null;
  for (const [facet, group] of others) {
    const shown = present.get(facet) ?? group.cloneNode(true);
    if (!present.has(facet)) (before ?? sheet.querySelector(".sheet-head")).after(shown);
    before = shown;
  }
  const [button, other] = [buttonOf(sheet), buttonOf(rail)];
  button.dataset.address = other.dataset.address;
  button.disabled = other.disabled;
  button.querySelector("span").textContent = other.textContent.trim();
  sheet.dataset.address = rail.dataset.address;
  staged.clear();
  start = null;
};

// Where nothing matches, the way out is the latest choice, or all of them.
const showUndo = (sheet) => {
  const isEmpty = buttonOf(sheet).disabled;
  if (!isEmpty) good = sheet.dataset.address;
  undoOf(sheet).hidden = !isEmpty;
  undoOf(sheet).textContent = good && latest ? `Undo “${latest}”` : "Clear all filters";
};

const fetchRail = async (sheet, signal) => {
  try {
    const answer = await fetch(wanted(sheet), { headers: RAIL, signal });
    if (!answer.ok) throw new Error(answer.statusText);
    const text = await answer.text();
    if (signal.aborted) return;
    showRail(sheet, new DOMParser().parseFromString(text, "text/html").getElementById("filters"));
    showUndo(sheet);
  } catch {
    if (signal.aborted) return;
    buttonOf(sheet).disabled = false;
    buttonOf(sheet).querySelector("span").textContent = "Show products";
  }
};

const refresh = (sheet) => {
  fetching?.abort();
  fetching = new AbortController();
  const { signal } = fetching;
  setTimeout(() => signal.aborted || fetchRail(sheet, signal), PAUSE);
};

// Choose what an address has, instead of what is chosen.
const choose = (sheet, address) => {
  staged.clear();
  start = address;
  const { searchParams } = read(address);
  isChoosing = true;
  for (const field of fieldsOf(sheet)) {
    field.value = searchParams.get(field.name) ?? "";
    field.dispatchEvent(new Event("input", { bubbles: true })); // Its slider follows.
  }
  isChoosing = false;
  sheet.querySelectorAll(".choices a.on").forEach((link) => tick(link, false));
  refresh(sheet);
};

const clear = (sheet) => choose(sheet, sheet.querySelector(".clear-filters").getAttribute("href") ?? opened.dataset.address);

const undo = (sheet) => {
  if (good && latest) choose(sheet, good);
  else clear(sheet);
  buttonOf(sheet).disabled = false;
  buttonOf(sheet).focus(); // The button that was pressed goes.
};

// The listing is the source too: of it htmx tells the server which part is wanted. Else the whole page is the answer.
const fetchListing = (address) =>
  htmx.ajax("GET", address, { source: "#listing", target: "#listing", swap: "outerMorph show:none", push: "true" });

// The sheet stays until the products are there; when none come, what was chosen is still in it.
const apply = (sheet) => {
  fetching?.abort();
  const address = wanted(sheet);
  if (hasSame(address, (opened ?? sheet).dataset.address)) return sheet.hidePopover();
  const own = hasSame(address, sheet.dataset.address) ? buttonOf(sheet).dataset.address : address;
  if (read(own).pathname !== location.pathname) return location.assign(own);
  applying = true;
  fetchListing(own);
};

const remember = (sheet) => {
  opened = sheet.cloneNode(true);
  [good, latest] = [null, ""];
  showUndo(sheet);
};

const discard = (sheet) => {
  fetching?.abort();
  if (opened) showRail(sheet, opened, true);
  sheet.querySelectorAll(".ends").forEach((form) => form.reset());
  opened = null;
};

// Before htmx hears of it, which would follow the link.
const stop = (event) => {
  event.preventDefault();
  event.stopPropagation();
};

document.addEventListener("click", (event) => {
  const sheet = stagingPlace();
  if (!sheet?.contains(event.target) || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest(".choices a");
  if (event.target.closest(".apply .undo-filter")) return undo(sheet);
  if (event.target.closest(".apply [data-address]:not(:disabled)")) return stop(event), apply(sheet);
  if (openSheet() && event.target.closest(".clear-filters")) return stop(event), clear(sheet);
  if (!link) return;
  stop(event);
  if (link.getAttribute("aria-disabled") || isFull(link)) return;
  stage(link);
  if (openSheet()) refresh(sheet);
  else document.dispatchEvent(new CustomEvent("filters:staged", { detail: { apply: () => apply(sheet) } }));
}, true);

document.addEventListener("input", (event) => {
  const sheet = openSheet();
  if (!sheet?.contains(event.target) || !event.target.closest(".ends") || isChoosing) return;
  latest = event.target.closest("details").querySelector("summary").textContent;
  refresh(sheet);
});

document.addEventListener("submit", (event) => {
  const sheet = openSheet();
  if (!sheet?.contains(event.target)) return;
  stop(event);
  refresh(sheet);
}, true);

document.addEventListener("toggle", (event) => {
  if (event.target.id !== "filters") return;
  if (event.newState === "open") remember(event.target);
  else discard(event.target);
}, true);
document.addEventListener("htmx:after:swap", () => {
  fetching?.abort();
  staged.clear();
  opened = start = null;
  const sheet = openSheet();
  if (sheet && applying) sheet.hidePopover();
  else if (sheet) remember(sheet);
  applying = false;
});
document.addEventListener("htmx:error", () => (applying = false));

// Menus that drop down close by Escape, by a click beside them and by what is chosen in them; the focus returns to their
// button. The menu of all categories is a popover, whose branches are details: pointing at one opens it on wide screens,
// and the arrows move in it.

const openMenus = () => [...document.querySelectorAll("details.drop[open]")];

const close = (menu) => {
  if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  menu.open = false;
};

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) {
    if (!menu.contains(event.target) || event.target.closest("a")) close(menu);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") openMenus().forEach(close);
});

const HOVER = 90; // Milliseconds, so that a pointer that only passes a branch opens nothing.
const wide = matchMedia("(min-width: 60rem)");
const menu = () => document.getElementById("all-categories");
const isOpen = () => menu()?.matches(":popover-open");
const entriesOf = () => [...menu().querySelectorAll(".branches > li > a, .branches > li > details > summary")];
const linksOf = (branch) => [...branch.querySelectorAll(".branch a")];

// The branch of the present page; on wide screens, where a branch has a place of its own, else the first.
const branchToOpen = () => {
  const branches = [...menu().querySelectorAll("details")];
  const isHere = (branch) => `${location.pathname}/`.startsWith(`${linksOf(branch)[0].pathname}/`);
  return branches.find(isHere) ?? (wide.matches ? branches[0] : undefined);
};

document.addEventListener("toggle", (event) => {
  if (event.target !== menu() || event.newState !== "open") return;
  const branch = branchToOpen();
  if (branch && !menu().querySelector("details[open]")) branch.open = true;
  if (!wide.matches) document.getElementById("close-menu").focus();
}, true);

let pointing = 0;
document.addEventListener("pointerover", (event) => {
  clearTimeout(pointing);
  const summary = event.pointerType === "mouse" && wide.matches && event.target.closest?.("#all-categories summary");
  if (summary) pointing = setTimeout(() => (summary.parentElement.open = true), HOVER);
});

// The place of an open branch is never empty on a wide screen: a second click opens the category itself.
document.addEventListener("click", (event) => {
  const summary = event.target.closest?.("#all-categories summary");
  if (!summary || !wide.matches || !summary.parentElement.open) return;
  event.preventDefault();
  if (event.detail) linksOf(summary.parentElement)[0].click();
});

const step = (list, from, key) => {
  const place = list.indexOf(from);
  const last = list.length - 1;
  return list[{ ArrowDown: Math.min(place + 1, last), ArrowUp: Math.max(place - 1, 0), Home: 0, End: last }[key]];
};

const focusEntry = (entry) => {
  if (wide.matches && entry.matches("summary")) entry.parentElement.open = true;
  entry.focus();
};

const move = (event) => {
  const branch = event.target.closest("details");
  const isInside = event.target.closest(".branch");
  if (event.key === "ArrowLeft") return isInside && branch.querySelector("summary");
  if (event.key === "ArrowRight") {
    if (isInside || !branch) return null;
    branch.open = true;
    return linksOf(branch)[0];
  }
  return step(isInside ? linksOf(branch) : entriesOf(), event.target, event.key);
};

const KEYS = ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End"];
document.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" && event.target.id === "menu-button") {
    event.preventDefault();
    menu().showPopover({ source: event.target });
    return (wide.matches && menu().querySelector("details[open] > summary") || entriesOf()[0])?.focus();
  }
  if (!KEYS.includes(event.key) || !isOpen() || !event.target.closest?.(".branches")) return;
  event.preventDefault();
  const next = move(event);
  if (next) focusEntry(next);
});

// Tab leads out of the menu as out of any part of the page; it does not stay open over what has the focus.
document.addEventListener("focusout", (event) => {
  const next = event.relatedTarget;
  if (next && isOpen() && menu().contains(event.target) && !menu().contains(next) && next.id !== "menu-button") menu().hidePopover();
});

// Search within a tree: hides what does not match and shows the way to what does.
import { tree, items, linkOf, parentOf, isSearching, current, focusOn } from "./tree.js";

const search = document.getElementById("tree-search");

const showWayTo = (item) => {
  for (let at = parentOf(item); at && at.hidden; at = parentOf(at)) at.hidden = false;
};
const find = () => {
  const words = search.value.trim().toLowerCase();
  tree().classList.toggle("searching", words !== "");
  let hits = 0;
  for (const item of items()) {
    const isHit = words !== "" && (linkOf(item)?.textContent.toLowerCase().includes(words) ?? false);
    item.hidden = words !== "" && !isHit;
    item.classList.toggle("hit", isHit);
    if (isHit) { hits += 1; showWayTo(item); }
  }
  document.getElementById("tree-none").hidden = words === "" || hits > 0;
};
const end = () => {
  search.value = "";
  find();
  focusOn(current());
};
const onKey = (event, choose) => {
  if (event.key === "Escape") end();
  else if (event.key === "Enter" || event.key === "ArrowDown") choose(isSearching() ? tree().querySelector(".hit") : current());
  else return;
  event.preventDefault();
};
search.addEventListener("input", find);

// `choose` is what happens to the first item that was found.
export const listen = (choose) => search.addEventListener("keydown", (event) => onKey(event, choose));
export const begin = () => search.focus();
export const again = () => { if (search.value) find(); };

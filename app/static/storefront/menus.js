// Menus that drop down close by Escape, by a click beside them and by what is chosen in them; the focus returns to their
// button.

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

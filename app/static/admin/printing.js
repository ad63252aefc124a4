// A button that prints its page.
import "./page.js";

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-prints]")) window.print();
});

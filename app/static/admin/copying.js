// A button that copies the text of the field beside it; where the browser allows no copying (plain http), it selects it.
import "./page.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copies);
  field.select();
  const said = document.querySelector(button.dataset.says);
  try {
    await navigator.clipboard.writeText(field.value);
    said.textContent = "Copied.";
  } catch {
    said.textContent = "Selected: copy it with Ctrl+C or the menu of your device.";
  }
});

// Rows of a table are ticked, and fields send their form as soon as they change.

// A tick in the head of a table ticks its rows; what appears with a selection shows the count.
const counted = (form) => {
  const ticked = form.querySelectorAll("[data-tick]:checked").length;
  for (const bar of form.querySelectorAll("[data-with-selection]")) bar.hidden = bar.disabled = ticked === 0;
  for (const bar of form.querySelectorAll("[data-without-selection]")) bar.hidden = ticked > 0;
  for (const place of form.querySelectorAll("[data-selected-count]")) place.textContent = String(ticked);
};
document.addEventListener("change", (event) => {
  const box = event.target;
  const form = box.closest("form");
  if (!form) return;
  if (box.matches("[data-tick-all]")) {
    for (const row of form.querySelectorAll("[data-tick]")) row.checked = box.checked;
  }
  if (box.matches("[data-tick-all], [data-tick]")) counted(form);
  if (box.matches("[data-submits]")) form.requestSubmit();
});

// The shop's own home page in each theme, as a picture beside the theme's name.
import "../page.js";
import "./frames.js";

for (const frame of document.querySelectorAll("iframe[data-page]")) {
  const answer = await fetch(frame.dataset.page).catch(() => null);
  if (answer?.ok) frame.srcdoc = await answer.text();
}

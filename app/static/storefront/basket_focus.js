// A line that leaves the basket takes its button along: the focus goes to the next line, or out of the empty basket.

let left = -1; // The place of the line from which the request came.

document.addEventListener("htmx:before:request", (event) => {
  const line = event.target.closest?.("#basket .lines > li");
  left = line ? [...line.parentElement.children].indexOf(line) : -1;
});

document.addEventListener("htmx:after:swap", () => {
  const basket = document.getElementById("basket");
  if (!basket || left < 0 || document.activeElement !== document.body) return;
  const lines = basket.querySelectorAll(".lines > li");
  const next = lines[Math.min(left, lines.length - 1)];
  left = -1;
  (next?.querySelector("[id^=remove-]") ?? basket.querySelector(".empty a"))?.focus();
});

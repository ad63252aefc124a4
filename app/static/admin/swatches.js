// The colours of a filter's values: the pickers write lines of the text that is sent, and follow what is typed there.
const HEX = /^#[0-9a-f]{6}(?![^])/i;

// A line is the value, then its colour.
const split = (line) => {
  const at = line.lastIndexOf(" #");
  return at < 1 ? null : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
};
const linesOf = (text) => text.value.split("\n").map((line) => line.trim()).filter(Boolean);

const show = (row, own) => {
  const isOwn = HEX.test(own);
  const colour = (isOwn ? own : row.dataset.byName).toLowerCase();
  for (const circle of row.querySelectorAll("circle")) circle.setAttribute("fill", colour || "none");
  for (const slash of row.querySelectorAll("path")) slash.setAttribute("display", colour ? "none" : "inline");
  row.querySelector("[data-says]").textContent = isOwn ? colour : colour ? "by its name" : "no colour yet";
  if (colour) row.querySelector("[data-pick-colour]").value = colour;
  row.querySelector("[data-clear-colour]").setAttribute("aria-disabled", String(!own));
};
// In the summary there is a dot for each typed colour.
const dot = ([value, colour]) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const circle = document.createElementNS(svg.namespaceURI, "circle");
  const set = (element, attributes) => Object.entries(attributes).forEach(([name, to]) => element.setAttribute(name, to));
  set(svg, { viewBox: "0 0 12 12", width: 12, height: 12, role: "img", "aria-label": value });
  set(circle, { cx: 6, cy: 6, r: 5.5, fill: colour });
  svg.append(circle);
  return svg;
};
const follow = (list) => {
  const typed = new Map(linesOf(document.getElementById(list.dataset.fills)).map(split).filter(Boolean));
  for (const row of list.children) show(row, typed.get(row.dataset.value) || "");
  const dots = [...typed].filter(([, colour]) => HEX.test(colour)).map(dot);
  list.closest(".filter-swatches").querySelector(".swatches").replaceChildren(...dots);
};
const followAll = () => document.querySelectorAll("[data-fills]").forEach(follow);

// Write the colour of a value into the text; none takes its line out.
const write = (row, colour) => {
  const list = row.closest("[data-fills]");
  const text = document.getElementById(list.dataset.fills);
  const lines = linesOf(text);
  const at = lines.findIndex((line) => (split(line)?.[0] ?? line) === row.dataset.value);
  const line = colour ? [`${row.dataset.value} ${colour}`] : [];
  lines.splice(at < 0 ? lines.length : at, at < 0 ? 0 : 1, ...line);
  text.value = lines.join("\n");
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.dispatchEvent(new Event("change", { bubbles: true }));
};

document.addEventListener("input", (event) => {
  const row = event.target.matches?.("[data-pick-colour]") && event.target.closest("[data-value]");
  if (row) write(row, event.target.value);
  const list = event.target.matches?.("textarea") && document.querySelector(`[data-fills="${CSS.escape(event.target.id)}"]`);
  if (list) follow(list);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-clear-colour]");
  if (button?.getAttribute("aria-disabled") === "false") write(button.closest("[data-value]"), "");
});
document.addEventListener("htmx:after:swap", followAll);
followAll();

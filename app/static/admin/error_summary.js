// The summary of a refused form names the field of each problem, in the order of the form.

const nameOf = (field) => field.labels?.[0]?.firstChild?.textContent.trim() || field.getAttribute("aria-label") || "";

const name = (summary) => {
  const fields = new Map();
  for (const line of summary.querySelectorAll("li:has(> a[href^='#'])")) {
    const link = line.firstElementChild;
    const id = link.getAttribute("href").slice(1);
    const field = document.getElementById(id) ?? document.getElementById(id.replace(/-\d+$/, "")); // One value of several.
    if (!field) continue;
    link.setAttribute("href", `#${field.id}`);
    fields.set(line, field);
    const label = nameOf(field);
    if (label && !link.textContent.toLowerCase().includes(label.toLowerCase())) link.prepend(`${label}: `);
  }
  const follows = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const lines = [...fields.keys()].sort((one, other) => (follows(fields.get(one), fields.get(other)) ? -1 : 1));
  lines[0]?.parentElement.append(...lines);
};

const nameAll = () => {
  for (const summary of document.querySelectorAll(".note.bad[data-focus]:not([data-named])")) {
    summary.dataset.named = "";
    name(summary);
  }
};
nameAll();
document.addEventListener("htmx:after:swap", nameAll);

// Rich text: a text area of HTML becomes an editor by Squire (vendor). The text area stays what is sent; it changes only
// once somebody typed, so that a text that was merely looked at is stored as it was. The server cleans what it gets.

const { DOMPurify, Squire } = window; // Classic scripts that stand before the modules, where a page has rich text.
const editors = new Map();
const BLOCKS = /^(?:P|DIV|H[2-4])$/;

// The content policy complains of styles and handlers already when they are read, as from what is pasted.
const quiet = (html) =>
  html.replace(/<style\b.*?(?:<\/style\s*>|$)/gis, "").replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/\s(?:style|on\w+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, ""));

// What the server keeps, in paragraphs. Pictures of other hosts go at once: they would be asked for what is typed.
const fragmentOf = (html, rules) => {
  const options = { ALLOWED_TAGS: rules.tags, ALLOWED_ATTR: rules.attributes, RETURN_DOM_FRAGMENT: true };
  const clean = DOMPurify.sanitize(quiet(html), options);
  for (const picture of clean.querySelectorAll("img:not([src^='/media/'])")) picture.remove();
  const own = document.importNode(clean, true);
  let paragraph = null;
  for (const node of [...own.childNodes]) {
    const isText = node.nodeType === Node.TEXT_NODE || /^(?:A|B|BR|CODE|EM|I|IMG|S|SMALL|STRONG|SU[BP]|U)$/.test(node.nodeName);
    if (!isText) paragraph = null;
    else if (paragraph || node.textContent.trim() || node.nodeName === "IMG") {
      if (!paragraph) node.before((paragraph = document.createElement("p")));
      paragraph.append(node);
    }
  }
  return own;
};

const replaced = (node, tag) => {
  const made = document.createElement(tag);
  made.append(...node.childNodes);
  node.replaceWith(made);
};

// The editor's own wrappers of lines mean nothing to pages.
const htmlOf = (surface) => {
  const copy = surface.cloneNode(true);
  for (const block of copy.querySelectorAll("div")) {
    if (block.parentElement !== copy && block.parentElement.childElementCount === 1) block.replaceWith(...block.childNodes);
    else replaced(block, "p");
  }
  for (const end of copy.querySelectorAll("br:last-child")) if (!end.nextSibling) end.remove();
  for (const empty of copy.querySelectorAll("p:empty")) empty.remove();
  const isEmpty = !copy.textContent.trim() && !copy.querySelector("img, hr, table");
  return isEmpty ? "" : copy.innerHTML.replaceAll("\u200b", "");
};

const into = (tag) => (fragment) => {
  for (const block of [...fragment.children]) if (BLOCKS.test(block.nodeName)) replaced(block, tag);
  return fragment;
};
const within = (squire, tag) => new RegExp(`(?:^|>)${tag}(?:$|[>.#])`).test(squire.getPath());
const inlined = (squire, tag, set, take) => (squire.hasFormat(tag) ? squire[take]() : squire[set]());
const listed = (squire, tag, make) => (within(squire, tag) ? squire.removeList() : squire[make]());
const ACTS = {
  bold: (squire) => inlined(squire, "B", "bold", "removeBold"),
  italic: (squire) => inlined(squire, "I", "italic", "removeItalic"),
  h2: (squire) => squire.modifyBlocks(into(within(squire, "H2") ? "p" : "h2")),
  h3: (squire) => squire.modifyBlocks(into(within(squire, "H3") ? "p" : "h3")),
  ul: (squire) => listed(squire, "UL", "makeUnorderedList"),
  ol: (squire) => listed(squire, "OL", "makeOrderedList"),
};
const IS_ON = {
  bold: (squire) => squire.hasFormat("B"),
  italic: (squire) => squire.hasFormat("I"),
  h2: (squire) => within(squire, "H2"),
  h3: (squire) => within(squire, "H3"),
  ul: (squire) => within(squire, "UL"),
  ol: (squire) => within(squire, "OL"),
  link: (squire) => squire.hasFormat("A"),
};

// The editable place has the name, help and error of the text area, and its id, to which labels and errors lead.
const surfaceFor = (area, label) => {
  const surface = document.createElement("div");
  surface.className = "rich-surface";
  for (const name of ["aria-describedby", "aria-invalid", "aria-required"]) {
    if (area.hasAttribute(name)) surface.setAttribute(name, area.getAttribute(name));
  }
  surface.id = area.id;
  label.id = `${area.id}-label`;
  surface.setAttribute("role", "textbox");
  surface.setAttribute("aria-multiline", "true");
  surface.setAttribute("aria-labelledby", label.id);
  surface.classList.toggle("tall", area.rows > 10);
  label.removeAttribute("for");
  label.addEventListener("click", () => surface.focus());
  area.removeAttribute("id");
  area.setAttribute("aria-label", `${label.textContent.trim()} as HTML`);
  area.hidden = true;
  return surface;
};

const showState = (squire, tools) => {
  for (const button of tools.querySelectorAll("[data-act]")) {
    const isOn = IS_ON[button.dataset.act];
    if (isOn) button.setAttribute("aria-pressed", String(isOn(squire)));
  }
};

const linking = (squire, tools) => {
  const place = tools.querySelector("[data-link]");
  const address = place.querySelector("input");
  const done = () => {
    place.hidden = true;
    squire.focus();
  };
  const set = () => {
    const to = address.value.trim();
    done();
    if (to) squire.makeLink(/^[\w-]+(?:\.[\w-]+)+(?:\/|$)/.test(to) ? `https://${to}` : to);
    else squire.removeLink();
  };
  place.querySelector("button").addEventListener("click", set);
  address.addEventListener("keydown", (event) => {
    if (event.key === "Enter") set();
    else if (event.key === "Escape") done();
    else return;
    event.preventDefault();
  });
  return () => {
    const inside = squire.getSelection().commonAncestorContainer;
    const link = (inside.nodeType === Node.ELEMENT_NODE ? inside : inside.parentElement).closest(".rich-surface a");
    address.value = link?.getAttribute("href") ?? "";
    place.hidden = !place.hidden;
    if (!place.hidden) address.select();
  };
};

const open = (field) => {
  const area = field.querySelector("textarea");
  const rules = JSON.parse(field.dataset.rich);
  const tools = field.querySelector("template").content.cloneNode(true).firstElementChild;
  const surface = surfaceFor(area, field.querySelector("label"));
  area.before(tools, surface);
  const squire = new Squire(surface, {
    blockTag: "P",
    sanitizeToDOMFragment: (html) => fragmentOf(html, rules),
    didError: () => {},
  });
  squire.setHTML(area.value);
  let shown = htmlOf(surface);
  squire.addEventListener("input", () => {
    const html = htmlOf(surface);
    if (html === shown) return;
    shown = area.value = html;
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  for (const news of ["pathChange", "select", "cursor"]) squire.addEventListener(news, () => showState(squire, tools));
  // Squire learns of a selection from an event that comes later; when the focus leaves first, it would act on the one before.
  field.addEventListener("blur", (event) => event.target === surface && squire.getSelection(), true);
  const link = linking(squire, tools);
  const source = () => {
    area.hidden = !area.hidden;
    surface.hidden = !area.hidden;
    if (area.hidden) {
      squire.setHTML(area.value);
      shown = htmlOf(surface);
    }
    (area.hidden ? surface : area).focus();
    for (const button of tools.querySelectorAll("[data-act]:not([data-act=source])")) button.disabled = !area.hidden;
    tools.querySelector("[data-act=source]").setAttribute("aria-pressed", String(!area.hidden));
  };
  tools.addEventListener("click", (event) => {
    const act = event.target.closest("[data-act]")?.dataset.act;
    if (act === "source") source();
    else if (act === "link") link();
    else if (act) {
      squire.focus();
      ACTS[act](squire);
      showState(squire, tools);
    }
  });
  editors.set(surface, squire);
};

// Ctrl+Enter saves from here as from any field; a click on a picture only puts the cursor there.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !event.target.closest?.(".rich-surface")) return;
  event.preventDefault();
  event.stopPropagation();
  const { key, ctrlKey, metaKey } = event;
  const area = event.target.closest("[data-rich]").querySelector("textarea");
  area.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey, metaKey, bubbles: true }));
}, true);
for (const name of ["click", "pointerdown"]) {
  document.addEventListener(name, (event) => {
    if (event.target.closest?.(".rich-surface img")) event.stopPropagation();
  }, true);
}

const openAll = () => {
  for (const [surface, squire] of editors) {
    if (surface.isConnected) continue;
    squire.destroy();
    editors.delete(surface);
  }
  if (!Squire || !DOMPurify) return;
  for (const field of document.querySelectorAll("[data-rich]")) if (!field.querySelector(".rich-surface")) open(field);
};
openAll();
document.addEventListener("htmx:after:swap", openAll);

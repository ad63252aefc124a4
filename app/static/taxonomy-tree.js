// The taxonomy editor's tree: keys, drag and drop, search and what is open. What is done goes to the server as one
// small edit; the answer brings the branches, the bar and the panel that changed.
(() => {
  "use strict";

  const editor = document.getElementById("editor");
  if (!editor) return;
  const said = document.getElementById("said");
  const search = document.getElementById("tree-search");
  const bar = () => document.getElementById("bar");
  const tree = () => document.getElementById("tree");
  const panel = () => document.getElementById("panel");

  const rowOf = (item) => item.querySelector(":scope > .leaf");
  const linkOf = (item) => item.querySelector(":scope > .leaf > a");
  const groupOf = (item) => item.querySelector(":scope > ul");
  const parentOf = (item) => item.parentElement.closest("[role=treeitem]");
  const itemOf = (levelId) => !levelId ? null : tree().querySelector(`[data-level="${CSS.escape(levelId)}"]`);
  const items = () => tree().querySelectorAll("[role=treeitem]");
  const searching = () => tree().classList.contains("searching");
  const isOpen = (item) => !!groupOf(item) && (searching() || item.getAttribute("aria-expanded") === "true");

  // What is open is remembered in this browser, for the branches that somebody opened or closed by hand.
  const memoryKey = `taxonomy-tree:${editor.dataset.key}`;
  const remembered = (() => {
    try { return new Map(JSON.parse(localStorage.getItem(memoryKey) || "[]")); } catch { return new Map(); }
  })();
  const remember = () => {
    try { localStorage.setItem(memoryKey, JSON.stringify([...remembered].slice(-2000))); } catch { /* Then not. */ }
  };
  const setOpen = (item, open) => {
    if (!groupOf(item)) return;
    item.setAttribute("aria-expanded", String(open));
    remembered.set(item.dataset.level, open);
  };
  const toggle = (item, open = !isOpen(item)) => { setOpen(item, open); remember(); };
  const openWayTo = (item) => {
    for (let above = parentOf(item); above; above = parentOf(above)) {
      if (above.getAttribute("aria-expanded") === "false") above.setAttribute("aria-expanded", "true");
    }
  };

  // One item takes part in the order of the Tab key: the one that was focused last.
  let current = null;
  const step = (item) => {
    if (current && current !== item) current.tabIndex = -1;
    current = item;
    if (item) item.tabIndex = 0;
  };
  const focusOn = (item) => {
    if (!item) return;
    openWayTo(item);
    step(item);
    item.focus({ preventScroll: true });
    rowOf(item).scrollIntoView({ block: "nearest" });
  };
  const mark = (item) => {
    for (const other of tree().querySelectorAll('[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
    item?.setAttribute("aria-selected", "true");
  };

  // Neighbours among what is shown.
  const shown = (item, way) => {
    do item = item && item[way]; while (item && item.hidden);
    return item;
  };
  const firstIn = (list) => {
    const item = list.firstElementChild;
    return item && item.hidden ? shown(item, "nextElementSibling") : item;
  };
  const lastIn = (list) => {
    let item = list.lastElementChild;
    if (item && item.hidden) item = shown(item, "previousElementSibling");
    return item && isOpen(item) ? lastIn(groupOf(item)) || item : item;
  };
  const below = (item) => {
    if (isOpen(item) && firstIn(groupOf(item))) return firstIn(groupOf(item));
    for (let at = item; at; at = parentOf(at)) if (shown(at, "nextElementSibling")) return shown(at, "nextElementSibling");
    return null;
  };
  const above = (item) => {
    const before = shown(item, "previousElementSibling");
    if (!before) return parentOf(item);
    return isOpen(before) ? lastIn(groupOf(before)) || before : before;
  };

  // Requests go one after the other, each with the draft's version as the answer before it left it.
  const ask = (method, address, values) => htmx.ajax(method, address, { source: said, swap: "none", values });
  const send = (values) => ask("POST", editor.dataset.draft, { version: "", ...values });
  const say = (text) => {
    const line = document.createElement("p");
    line.className = "bad-ink";
    line.textContent = text;
    said.replaceChildren(line);
  };

  // What somebody types into the panel is not taken from under their hands: edits elsewhere leave the panel as it is,
  // and going to another level sends the form first.
  let typed = null;
  let afterwards = null;
  document.addEventListener("input", (event) => {
    if (panel()?.contains(event.target) && event.target.form && !event.target.closest("details")) typed = event.target.form;
  });
  // A form whose own buttons changed it has not been sent either, though it is a new one.
  const unsent = () => (typed?.isConnected ? typed : panel()?.querySelector("form:has([data-unsaved])")) || null;
  const leavePanel = (go, dropped) => {
    const form = dropped ? null : unsent();
    if (!form?.hasAttribute("hx-post")) { typed = null; go(); return; }
    afterwards = { form, go };
    form.requestSubmit(form.querySelector("button.primary, button:not([type=button])") || undefined);
  };
  document.addEventListener("htmx:before:request", (event) => {
    const { request, sourceElement } = event.detail.ctx;
    if (!(request.body instanceof URLSearchParams) || !request.body.has("version")) return;
    request.body.set("version", bar().dataset.version);
    const marked = [...tree().querySelectorAll(".leaf > b.bad")].map((sign) => sign.closest("[role=treeitem]").dataset.level);
    if (marked.length) request.body.set("marked", marked.join(" "));
    if (unsent() && sourceElement !== unsent()) request.body.set("keep", "1");
  });
  document.addEventListener("htmx:finally:request", (event) => {
    const { sourceElement, response } = event.detail.ctx;
    for (const row of tree().querySelectorAll(".adding.sent")) row.remove();
    if (!afterwards || sourceElement !== afterwards.form) return;
    const { go } = afterwards;
    afterwards = null;
    if (response && response.status < 400) go();
  });
  document.addEventListener("htmx:response:error", (event) => {
    const { text, response } = event.detail.ctx;
    if (text?.includes("<hx-partial")) return;
    const answer = new DOMParser().parseFromString(text || "", "text/html").body.textContent.trim();
    say(answer.replace(/\s+/g, " ") || `The shop answered with ${response.status}. Nothing was changed.`);
  });

  // Show a level's panel. Arrow keys wait a moment, so that only the level at which they stop is fetched.
  let waiting = 0;
  const show = (levelId, more = {}, delay = 0, dropped = false) => {
    clearTimeout(waiting);
    const go = () => ask("GET", editor.dataset.panel, { level: levelId, ...more });
    waiting = setTimeout(() => leavePanel(go, dropped), delay);
  };
  const choose = (item, delay = 0) => {
    if (!item) return;
    focusOn(item);
    mark(item);
    show(item.dataset.level, {}, delay);
  };

  // A row becomes a field. What was typed is taken when the field is left, too; Esc takes nothing.
  const field = (label, value, take, gone) => {
    const input = document.createElement("input");
    input.className = "tree-field";
    input.value = value;
    input.maxLength = 200;
    input.setAttribute("aria-label", label);
    let over = false;
    const end = (text) => {
      if (over) return;
      over = true;
      if (text !== null && text.trim() && text.trim() !== value) { input.disabled = true; take(text); } else gone();
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") { event.preventDefault(); end(input.value); }
      if (event.key === "Escape") { event.preventDefault(); end(null); }
    });
    input.addEventListener("blur", () => end(input.value));
    input.addEventListener("paste", (event) => {
      const text = event.clipboardData.getData("text");
      if (!take.manyLines || !/\n./.test(text.trim())) return;
      event.preventDefault();
      end(text);
    });
    return input;
  };
  const rename = (item) => {
    const link = linkOf(item);
    if (!link) return;
    const back = () => { input.replaceWith(link); focusOn(item); };
    const input = field("Name of the level", link.textContent, (text) => {
      link.textContent = text.trim();
      input.replaceWith(link);
      send({ edit: "level.rename", level: item.dataset.level, name: text });
    }, back);
    link.replaceWith(input);
    input.select();
  };
  const add = (item, inside) => {
    const parent = inside ? item : parentOf(item);
    const row = document.createElement("li");
    row.className = "adding";
    row.setAttribute("role", "none");
    const take = (text) => {
      row.classList.add("sent");
      list?.classList.add("sent");
      send({ edit: "level.add", level: item.dataset.level, parent: parent?.dataset.level || "", after: inside ? "" : item.dataset.level, name: text });
    };
    take.manyLines = true;
    const input = field("Name of the new level", "", take, () => { row.remove(); list?.remove(); focusOn(item); });
    input.placeholder = inside ? `A level below ${linkOf(item).textContent}` : "A new level";
    row.append(input);
    let list = null;
    if (!inside) item.after(row);
    else if (groupOf(item)) { toggle(item, true); groupOf(item).append(row); }
    else { list = document.createElement("ul"); list.className = "adding"; list.append(row); item.append(list); }
    input.focus();
  };

  const edit = (name) => (item) => send({ edit: `level.${name}`, level: item.dataset.level });
  const keys = {
    ArrowDown: (item) => choose(below(item), 150),
    ArrowUp: (item) => choose(above(item), 150),
    ArrowRight: (item) => { if (!groupOf(item)) return; if (isOpen(item)) choose(firstIn(groupOf(item)), 150); else toggle(item, true); },
    ArrowLeft: (item) => { if (isOpen(item) && !searching()) toggle(item, false); else choose(parentOf(item), 150); },
    Home: () => choose(firstIn(tree()), 150),
    End: () => choose(lastIn(tree()), 150),
    " ": (item) => choose(item),
    Enter: rename,
    F2: rename,
    Insert: (item) => add(item, false),
    n: (item) => add(item, false),
    "Shift+Insert": (item) => add(item, true),
    "Shift+N": (item) => add(item, true),
    Delete: edit("delete"),
    "Alt+ArrowUp": edit("up"),
    "Alt+ArrowDown": edit("down"),
    "Alt+ArrowRight": edit("indent"),
    "Alt+ArrowLeft": edit("outdent"),
    m: (item) => htmx.ajax("GET", `${editor.dataset.move}?level=${encodeURIComponent(item.dataset.level)}`, { source: document.body, target: "#asked", swap: "innerHTML" }),
    "/": () => search.focus(),
    "?": () => document.getElementById("tree-help").showPopover(),
    "*": (item) => {
      const open = !isOpen(item);
      for (const beside of item.parentElement.children) if (groupOf(beside)) setOpen(beside, open);
      remember();
    },
  };
  const nameOf = (event) => {
    const shifted = event.shiftKey && (event.key.length > 1 || event.key === "N") ? "Shift+" : "";
    return `${event.altKey ? "Alt+" : ""}${shifted}${event.key}`;
  };
  editor.addEventListener("keydown", (event) => {
    const item = event.target.closest("#tree [role=treeitem]");
    if (!item || event.target !== item || event.ctrlKey || event.metaKey) return;
    const act = keys[nameOf(event)];
    if (!act) return;
    event.preventDefault();
    act(item);
  });

  // Undo and redo, anywhere but where a field has its own.
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.closest("input, textarea, select, dialog")) return;
    const key = event.key.toLowerCase();
    const turn = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : null;
    if (!turn) return;
    event.preventDefault();
    const form = bar().querySelector(`form[data-turn="${turn}"]`);
    // A press while the one before is under way waits for it, although the button may look as if there were nothing.
    ask("POST", form.getAttribute("action"), { version: "", level: bar().dataset.level });
  });

  editor.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-tree]");
    if (opener) {
      for (const item of items()) setOpen(item, opener.dataset.tree === "open");
      remember();
      return;
    }
    const link = event.target.closest("a.to-level");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const { level, attribute } = link.dataset;
      const place = decodeURIComponent(link.hash.slice(1));
      goTo = place || null;
      show(level, attribute ? { attribute } : {}, 0, link.hasAttribute("data-cancel"));
      return;
    }
    const row = event.target.closest(".tree .leaf");
    if (!row || event.target.matches("input") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const item = row.parentElement;
    if (event.target.matches("i") && groupOf(item)) { step(item); toggle(item); return; }
    goTo = narrow.matches ? "panel" : null;
    choose(item);
  });
  let goTo = null;
  const narrow = matchMedia("(max-width: 60rem)");
  editor.addEventListener("dblclick", (event) => {
    const link = event.target.closest(".tree .leaf > a");
    if (link) rename(link.closest("[role=treeitem]"));
  });

  // Search hides what does not match and shows the way to what does.
  const find = () => {
    const words = search.value.trim().toLowerCase();
    tree().classList.toggle("searching", words !== "");
    let hits = 0;
    for (const item of items()) {
      const hit = words !== "" && (linkOf(item)?.textContent.toLowerCase().includes(words) ?? false);
      item.hidden = words !== "" && !hit;
      item.classList.toggle("hit", hit);
      if (!hit) continue;
      hits += 1;
      for (let at = parentOf(item); at && at.hidden; at = parentOf(at)) at.hidden = false;
    }
    document.getElementById("tree-none").hidden = words === "" || hits > 0;
  };
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    const first = searching() ? tree().querySelector(".hit") : current;
    if (event.key === "Escape") { search.value = ""; find(); focusOn(current); } else if (event.key === "Enter" || event.key === "ArrowDown") choose(first);
    else return;
    event.preventDefault();
  });

  // Drag and drop: onto the upper edge of a row means before it, the lower edge behind it, the middle below it.
  let dragged = null;
  let over = null;
  let opening = 0;
  const clear = () => {
    over?.row.classList.remove("drop-before", "drop-after", "drop-inside");
    over = null;
    clearTimeout(opening);
  };
  editor.addEventListener("pointerdown", (event) => {
    const row = event.target.closest(".tree .leaf");
    if (!row || event.pointerType === "touch") return;
    row.draggable = true;
    linkOf(row.parentElement)?.setAttribute("draggable", "false");
  });
  editor.addEventListener("dragstart", (event) => {
    if (!event.target.matches?.(".tree .leaf")) return;
    dragged = event.target.parentElement;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", linkOf(dragged)?.textContent || "");
    dragged.classList.add("dragged");
  });
  editor.addEventListener("dragover", (event) => {
    const row = dragged && event.target.closest(".tree .leaf");
    if (!row || dragged.contains(row)) { clear(); return; }
    event.preventDefault();
    const box = row.getBoundingClientRect();
    const part = (event.clientY - box.top) / box.height;
    const place = part < 0.28 ? "before" : part > 0.72 ? "after" : "inside";
    if (over?.row === row && over.place === place) return;
    clear();
    over = { row, place };
    row.classList.add(`drop-${place}`);
    if (place === "inside") opening = setTimeout(() => toggle(row.parentElement, true), 600);
  });
  const drop = ({ row, place }) => {
    const item = row.parentElement;
    if (place === "after" && isOpen(item)) {
      const first = firstIn(groupOf(item));
      return { parent: item.dataset.level, before: first === dragged ? "" : first?.dataset.level || "" };
    }
    if (place === "inside") return { parent: item.dataset.level };
    return { parent: parentOf(item)?.dataset.level || "", [place]: item.dataset.level };
  };
  editor.addEventListener("drop", (event) => {
    if (!dragged || !over) return;
    event.preventDefault();
    send({ edit: "level.move", level: dragged.dataset.level, ...drop(over) });
    clear();
  });
  editor.addEventListener("dragend", () => { clear(); dragged?.classList.remove("dragged"); dragged = null; });

  // What an answer brought takes its place among what is there.
  const settle = () => {
    for (const item of tree().querySelectorAll("[aria-expanded]")) {
      const open = remembered.get(item.dataset.level);
      if (open !== undefined) item.setAttribute("aria-expanded", String(open));
    }
    for (const link of tree().querySelectorAll(".leaf > a:not([tabindex])")) link.tabIndex = -1;
    for (const item of tree().querySelectorAll("[role=treeitem]:not([tabindex])")) item.tabIndex = -1;
    tree().hidden = !tree().childElementCount;
    const chosen = itemOf(bar().dataset.level);
    if (chosen) openWayTo(chosen);
    if (!typed) mark(chosen);
    if (!current?.isConnected) { current = null; step(chosen || firstIn(tree())); }
    return chosen;
  };
  document.addEventListener("htmx:after:swap", (event) => {
    if (typed && !typed.isConnected) typed = null;
    const dialog = document.querySelector("dialog[data-open]:not([data-was-open])");
    if (dialog) {
      dialog.dataset.wasOpen = "";
      dialog.showModal();
    }
    const { sourceElement, request } = event.detail.ctx;
    if (!editor.contains(sourceElement) && !sourceElement.matches("[data-closes]")) return;
    const chosen = settle();
    if (search.value) find();
    const isOfTree = request.method === "POST" && (sourceElement === said || sourceElement.matches("[data-closes]"));
    if (isOfTree && chosen) {
      focusOn(chosen);
      const row = rowOf(chosen);
      row.classList.add("just-changed");
      setTimeout(() => row.classList.remove("just-changed"), 2000);
    }
    if (goTo) {
      const place = document.getElementById(goTo);
      goTo = null;
      place?.scrollIntoView({ block: place === panel() ? "start" : "center" });
      if (place !== panel()) place?.focus();
    }
  });
  document.addEventListener("submit", (event) => {
    if (event.target === typed) typed = null;
    if (event.target.matches("[data-closes]")) event.target.closest("dialog")?.close();
  });
  document.addEventListener("close", (event) => {
    if (event.target.id === "move-dialog" && current) focusOn(current);
  }, true);

  for (const tool of editor.querySelectorAll("[data-tree], #tree-search")) tool.hidden = false;
  const chosen = settle();
  step(chosen || firstIn(tree()));
  if (chosen) rowOf(chosen).scrollIntoView({ block: "nearest" });
})();

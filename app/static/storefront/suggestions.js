// Suggestions below the search box as words are typed: the editable combobox with a list of the ARIA Authoring Practices.
// The focus stays in the box. Without scripts, or where nothing comes, it is the plain form.

const PAUSE = 150; // Milliseconds without a further letter, after which suggestions are fetched.
const SHORTEST = 2; // Letters that are searched for.
const RECENT = "recent-searches"; // Kept in this browser alone, and never sent.
const MOST_RECENT = 5;

const made = (tag, attributes = {}, ...inside) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
};

const recent = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return Array.isArray(kept) ? kept.filter((words) => typeof words === "string").slice(0, MOST_RECENT) : [];
  } catch {
    return []; // No storage, or something else in it.
  }
};

const keep = (words) => {
  try {
    if (words.length) localStorage.setItem(RECENT, JSON.stringify(words));
    else localStorage.removeItem(RECENT);
  } catch {
    // A browser that keeps nothing.
  }
};

const remember = (words) => {
  const plain = words.trim().replace(/\s+/g, " ");
  const others = recent().filter((other) => other.toLowerCase() !== plain.toLowerCase());
  if (plain.length >= SHORTEST) keep([plain, ...others].slice(0, MOST_RECENT));
};

const option = (id, words, attributes) =>
  made("a", { id, role: "option", "aria-selected": "false", tabindex: "-1", ...attributes }, words);

// What this browser searched for, with an option that forgets it.
const recentGroup = (form) => {
  const words = recent();
  if (!words.length) return null;
  const label = made("p", { id: "suggested-recent", role: "presentation" }, "Recent searches");
  const links = words.map((text, place) =>
    option(`recent-${place}`, text, { class: "words", href: `${form.action}?${new URLSearchParams({ q: text })}`, "data-words": text }));
  const clear = option("recent-clear", "Clear recent searches", { class: "clear", "data-clear": "" });
  return made("div", { role: "group", "aria-labelledby": "suggested-recent" }, label, ...links, clear);
};

const begin = (form) => {
  const box = form.querySelector("input[type=search]");
  const list = made("div", { class: "suggestions", id: "suggestions", role: "listbox", "aria-label": "Suggestions", hidden: "" });
  const news = made("p", { class: "unseen", "aria-live": "polite" });
  let fetching = null;
  let timer = null;

  const options = () => [...list.querySelectorAll("[role=option]")];
  const isOpen = () => !list.hidden;
  const isFor = (words) => list.dataset.for === words; // Whether the list has the suggestions for these words.
  const active = () => list.querySelector("[aria-selected=true]");

  const activate = (chosen) => {
    active()?.setAttribute("aria-selected", "false");
    if (!chosen) return box.removeAttribute("aria-activedescendant");
    chosen.setAttribute("aria-selected", "true");
    box.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  };

  const stop = () => {
    clearTimeout(timer);
    fetching?.abort();
  };

  const close = () => {
    stop();
    activate(null);
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
    news.textContent = "";
  };

  const open = () => {
    const count = options().length;
    if (!count || document.activeElement !== box) return close();
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    news.textContent = `${count} suggestion${count === 1 ? "" : "s"}. Choose with the arrow keys.`;
  };

  // Recent searches come first, and are not among the popular ones again.
  const addRecent = () => {
    const own = recentGroup(form);
    if (!own) return;
    const known = recent();
    list.querySelectorAll("[data-words]").forEach((popular) => known.includes(popular.dataset.words) && popular.remove());
    list.querySelectorAll("[role=group]:not(:has([role=option]))").forEach((group) => group.remove());
    if (!list.querySelector(".texts")) list.prepend(made("div", { class: "texts", role: "presentation" }));
    list.querySelector(".texts").prepend(own);
  };

  const show = (html, words) => {
    const chosen = isFor(words) ? active()?.id : null; // Popular searches come after recent ones.
    activate(null);
    list.innerHTML = html;
    if (!words) addRecent();
    list.scrollTop = 0;
    list.dataset.for = words;
    open();
    if (chosen && isOpen()) activate(options().find((option) => option.id === chosen));
  };

  const load = async () => {
    stop();
    const words = box.value.trim() ? box.value.trimStart() : "";
    if (words && words.trim().length < SHORTEST) return close();
    if (isFor(words) && options().length && words) return open();
    if (!words) show("", words);
    fetching = new AbortController();
    const { signal } = fetching;
    try {
      const address = `${form.dataset.suggestions}?${new URLSearchParams(words ? { q: words } : {})}`;
      const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal });
      const html = answer.ok ? await answer.text() : "";
      if (!signal.aborted) show(html, words);
    } catch {
      if (!signal.aborted && words) close(); // No connection: the form says so when it is sent.
    }
  };

  const search = (words) => {
    box.value = words;
    close();
    form.requestSubmit();
  };

  const forget = () => {
    keep([]);
    box.focus();
    load();
  };

  const move = (step) => {
    const all = options();
    const place = all.indexOf(active());
    // Before the first and behind the last option the box itself has its turn.
    activate(all[place === -1 && step < 0 ? all.length - 1 : place + step] ?? null);
  };

  const keys = {
    ArrowDown: () => (isOpen() ? move(1) : load()),
    ArrowUp: () => (isOpen() ? move(-1) : load()),
    Enter: () => active()?.click(),
    Escape: () => (isOpen() ? close() : (box.value = "")),
  };

  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Home" || event.key === "End") return activate(null); // The cursor moves within the words.
    if (event.key === "Tab") return close();
    const act = keys[event.key];
    if (!act || (event.key === "Enter" && !active())) return;
    event.preventDefault();
    act();
  });

  box.addEventListener("input", () => {
    stop();
    activate(null);
    timer = setTimeout(load, PAUSE);
  });

  for (const name of ["focus", "click"]) {
    box.addEventListener(name, () => !isOpen() && !box.value.trim() && load());
  }

  form.addEventListener("focusout", close);
  list.addEventListener("mousedown", (event) => event.preventDefault()); // The focus stays in the box.
  list.addEventListener("click", (event) => {
    const chosen = event.target.closest("[role=option]");
    if (!chosen || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if ("clear" in chosen.dataset) return forget();
    if (!chosen.dataset.words) return;
    event.preventDefault();
    search(chosen.dataset.words);
  });

  form.addEventListener("submit", () => {
    remember(box.value);
    close();
  });
  addEventListener("pageshow", (event) => event.persisted && close());

  box.type = "text"; // One for searches may not have this role.
  box.setAttribute("enterkeyhint", "search");
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-expanded", "false");
  box.setAttribute("aria-controls", list.id);
  form.append(list, news);
};

const form = document.querySelector("form.find[data-suggestions]");
if (form) begin(form);

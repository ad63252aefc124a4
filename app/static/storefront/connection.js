// Slow and lost connections: a request that takes long says that it works, and one that cannot be made says so, keeps the
// page as it is and can be made again. Filters chosen meanwhile are applied as soon as the connection is back.

const SLOW = 300; // Milliseconds after which a request shows that it works.
const OFFLINE = "You’re offline.";
const AWAY = "The shop doesn’t answer.";
const timers = new Map(); // By request that is under way.
let again = null; // Makes the lost request again.
let isAutomatic = false;

const place = (target) => (typeof target === "string" ? document.querySelector(target) : target);

const say = (words) => document.getElementById("progress")?.replaceChildren(words);

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  forget();
  const show = () => {
    place(ctx.target)?.setAttribute("aria-busy", "true");
    say("Loading…");
  };
  timers.set(ctx, setTimeout(show, SLOW));
});

document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  clearTimeout(timers.get(ctx));
  timers.delete(ctx);
  place(ctx.target)?.removeAttribute("aria-busy");
  if (!timers.size) say("");
});

const notice = () => document.getElementById("connection");

const forget = () => {
  again = null;
  notice()?.hidePopover();
};

const keep = (words, repeat, automatic = false) => {
  [again, isAutomatic] = [repeat, automatic];
  if (!notice()) return;
  notice().querySelector("p").textContent = `${navigator.onLine ? AWAY : OFFLINE} ${words}`;
  notice().querySelector(".again").hidden = !repeat;
  if (!notice().matches(":popover-open")) notice().showPopover();
};

const repeat = () => {
  const make = again;
  forget();
  make?.();
};

const FILTERS = "Your filters are kept, and applied when the connection is back.";

const fetchListing = (address) =>
  htmx.ajax("GET", address, { source: "#listing", target: "#listing", swap: "outerMorph show:none", push: "true" });

document.addEventListener("htmx:error", ({ detail: { ctx, error } }) => {
  if (!ctx || error?.name === "AbortError") return;
  const { action, method } = ctx.request;
  if (place(ctx.target)?.id === "listing") keep(FILTERS, () => fetchListing(action), true);
  else if (method === "GET") keep("Nothing on this page is lost.", () => location.assign(action));
  else keep("Nothing was sent, and what you typed is kept.", null);
});

// Choices that the filters stage while there is no connection.
document.addEventListener("filters:staged", (event) => keep(FILTERS, event.detail.apply, true));

document.addEventListener("click", (event) => {
  if (event.target.closest("#connection .again")) return repeat();
  const link = event.target.closest("a[href]");
  if (navigator.onLine || event.defaultPrevented || !link || link.target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const address = new URL(link.href);
  if (address.origin !== location.origin || (address.hash && address.pathname === location.pathname)) return;
  event.preventDefault();
  keep("Nothing on this page is lost.", () => location.assign(address));
});

document.addEventListener("submit", (event) => {
  if (navigator.onLine || event.defaultPrevented) return;
  event.preventDefault();
  keep("Nothing was sent, and what you typed is kept.", () => event.target.requestSubmit(event.submitter));
});

addEventListener("online", () => (isAutomatic && again ? repeat() : forget()));

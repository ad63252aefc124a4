// A grid of products: Alt and an arrow key move a card by one or by a line, Home and End to the front and behind the others;
// and its place can be typed. What a move does is up to the page.

// `move` takes a card and the place, from 0, at which it stands then; `type` a card and the number that was typed.
export function followGrid(move, type) {
  document.addEventListener("keydown", (event) => {
    const row = event.target.closest("[data-grid] > [data-row]");
    if (!row || !event.altKey) return;
    const cards = [...row.parentElement.children];
    const [from, pinned] = [cards.indexOf(row), Number(row.parentElement.dataset.grid)];
    const line = cards.filter((card) => card.offsetTop === cards[0].offsetTop).length;
    const last = from < pinned ? pinned - 1 : pinned;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, ArrowUp: from - line, ArrowDown: from + line, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const within = Math.max(0, Math.min(last, to));
    if (within === from) return;
    // The card moves at once, so that the next press counts from there.
    const focused = document.activeElement;
    if (within < from) cards[within].before(row);
    else cards[within].after(row);
    focused.focus({ preventScroll: true });
    move(row, within);
  });

  // Enter, or leaving the field, moves the card.
  const go = (field) => {
    const number = Math.round(Number(field.value));
    if (number < 1 || field.value === field.dataset.last) return;
    field.dataset.last = field.value;
    type(field.closest("[data-row]"), number);
  };
  document.addEventListener("change", (event) => {
    if (event.target.dataset.placeOf) go(event.target);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.dataset?.placeOf) return;
    event.preventDefault();
    go(event.target);
  });
  keepInSight();
}

// Where an answer draws the grid anew, it and the page stay scrolled as they were, and the card with the focus is in sight.
function keepInSight() {
  let grid = null;
  let scrolled = 0;
  let page = 0;
  document.addEventListener("htmx:before:swap", () => {
    grid = document.querySelector("[data-grid]");
    scrolled = grid?.scrollTop ?? 0;
    page = scrollY;
  });
  document.addEventListener("htmx:after:swap", () => {
    const drawn = document.querySelector("[data-grid]");
    if (!drawn || drawn === grid) return;
    drawn.scrollTop = scrolled;
    if (!drawn.closest(".rule-preview")) scrollTo(scrollX, page);
    drawn.querySelector(".grid-card:focus-within")?.scrollIntoView({ block: "nearest" });
  });
}

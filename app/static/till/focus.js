// Where the focus goes when what had it leaves the page: never to nothing, from where a screen reader and a keyboard
// would begin at the top.

/** Give the focus to an element, or to the heading of what is shown where it is gone. */
export function focusOn(element) {
  if (element?.isConnected && element !== document.body) element.focus({ preventScroll: true });
  if (document.activeElement === document.body) focusOnHeading();
}

function focusOnHeading() {
  const heading = document.querySelector("dialog[open] h2") ?? document.querySelector(".bar h1");
  heading?.focus({ preventScroll: true });
}

/** From now on, give the focus to the heading whenever what had it is removed or disabled. */
export function keepFocus() {
  let last = null;
  addEventListener("focusin", ({ target }) => { last = target; });
  const look = () => {
    if (!last || (last.isConnected && !last.disabled)) return;
    if (document.activeElement === document.body || document.activeElement === last) focusOnHeading();
    last = null;
  };
  const changes = { subtree: true, childList: true, attributeFilter: ["disabled"] };
  new MutationObserver(look).observe(document.body, changes);
}

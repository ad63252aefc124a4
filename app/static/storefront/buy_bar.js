// On a phone the button that adds to the basket stays at the foot of the screen while its place is out of view, but not
// over the end of the page.

const inView = new Set();

const show = () => {
  const bar = document.querySelector(".buy-bar");
  if (bar) bar.hidden = inView.size > 0;
};

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) inView.add(target);
    else inView.delete(target);
  }
  show();
});

const watch = () => {
  observer.disconnect();
  inView.clear();
  const button = document.querySelector("#add .button");
  if (button) [button, document.querySelector(".foot")].forEach((part) => part && observer.observe(part));
};

watch();
// A chosen variant brings the button anew.
document.addEventListener("htmx:after:swap", watch);

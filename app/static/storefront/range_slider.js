// The sliders of ranges: two handles that write into the boxes beside them, at either end an empty box. In the rail a
// range is set shortly after a handle was released, in the sheet with everything else.

const PAUSE = 400; // Milliseconds after the last key, so that a press is not a request.
let waiting = 0;

const partsOf = (form) => {
  const [low, high] = form.querySelectorAll(".slider input");
  const [from, to] = form.querySelectorAll("label input");
  return { slider: form.querySelector(".slider"), low, high, from, to };
};

const draw = (form) => {
  const { slider, low, high, from, to } = partsOf(form);
  const share = (handle) => (100 * (handle.value - handle.min)) / (handle.max - handle.min);
  slider.style.setProperty("--from", `${share(low)}%`);
  slider.style.setProperty("--to", `${share(high)}%`);
  low.setAttribute("aria-valuetext", from.value || "any");
  high.setAttribute("aria-valuetext", to.value || "any");
};

// A handle stops at the other one.
const slide = (form, handle) => {
  const { low, high, from, to } = partsOf(form);
  if (handle === low) {
    low.value = Math.min(low.value, high.value);
    from.value = low.value === low.min ? "" : low.value;
  } else {
    high.value = Math.max(low.value, high.value);
    to.value = high.value === high.max ? "" : high.value;
  }
  draw(form);
};

const type = (form) => {
  const { low, high, from, to } = partsOf(form);
  low.value = from.value.trim() || low.min;
  high.value = to.value.trim() || high.max;
  draw(form);
};

const formOf = (field) => {
  const form = field.closest?.(".ends");
  return form?.querySelector(".slider") ? form : null;
};

document.addEventListener("input", (event) => {
  const form = formOf(event.target);
  if (!form) return;
  if (event.target.type === "range") slide(form, event.target);
  else type(form);
});

document.addEventListener("reset", (event) => {
  if (formOf(event.target)) setTimeout(() => type(event.target));
});

document.addEventListener("change", (event) => {
  const form = event.target.type === "range" && formOf(event.target);
  if (!form || form.closest(":popover-open")) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => form.requestSubmit(), PAUSE);
});

// An open end is not sent.
document.addEventListener("formdata", (event) => {
  if (!event.target.matches(".ends")) return;
  [...event.formData].forEach(([name, value]) => value === "" && event.formData.delete(name));
});

const drawAll = () => document.querySelectorAll(".ends:has(.slider)").forEach(draw);
drawAll();
document.addEventListener("htmx:after:swap", drawAll);

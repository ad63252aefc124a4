// Requests of the taxonomy editor: what is done goes to the server as one small edit; they go one after the other, each
// with the draft's version as the answer before it left it.
import { editor, tree } from "../tree/tree.js";
import htmx from "../htmx.js";

export const said = document.getElementById("said");
export const bar = () => document.getElementById("bar");

export const ask = (method, address, values) =>
  htmx.ajax(method, address, { source: said, swap: "none", values: { version: "", ...values } });
export const send = (values) => {
  document.dispatchEvent(new Event("taxonomy:edit"));
  return ask("POST", editor.dataset.draft, values);
};
// A press while the one before is under way waits for it, although the button may look as if there were nothing.
export const turn = (way) => {
  document.dispatchEvent(new Event("taxonomy:edit"));
  const form = bar().querySelector(`form[data-turn="${way}"]`);
  return ask("POST", form.getAttribute("action"), { level: bar().dataset.level });
};
export const say = (text) => {
  const line = document.createElement("p");
  line.className = "bad-ink";
  line.setAttribute("role", "alert");
  line.textContent = text;
  document.getElementById("done").replaceChildren();
  document.getElementById("refusal").replaceChildren(line);
};
export const isOfTree = ({ sourceElement, request }) =>
  request.method === "POST" && (sourceElement === said || sourceElement.matches("[data-closes]"));

const marked = () =>
  [...tree().querySelectorAll(".leaf > b.bad")].map((sign) => sign.closest("[role=treeitem]").dataset.id).join(" ");
const addVersion = (request) => {
  const address = new URL(request.action, document.baseURI);
  if (address.searchParams.has("version")) {
    address.searchParams.set("version", bar().dataset.version);
    request.action = address.pathname + address.search;
  }
  if (!(request.body instanceof URLSearchParams) || !request.body.has("version")) return;
  request.body.set("version", bar().dataset.version);
  if (marked()) request.body.set("marked", marked());
};
document.addEventListener("htmx:before:request", (event) => addVersion(event.detail.ctx.request));

document.addEventListener("htmx:response:error", (event) => {
  const { text, response } = event.detail.ctx;
  if (text?.includes("<hx-partial")) return;
  const answer = new DOMParser().parseFromString(text || "", "text/html").body.textContent.trim();
  say(answer.replace(/\s+/g, " ") || `The shop answered with ${response.status}. Nothing was changed.`);
});

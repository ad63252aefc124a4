import { html, Screen } from "../ui.js";

export default function Locked() {
  return html`<${Screen} title="Locked" className="narrow"></${Screen}>`;
}

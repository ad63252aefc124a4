import { enter } from "../session.js";
import { Button, html, Screen } from "../ui.js";

export default function QuickUnlock() {
  return html`<${Screen} title="Quick unlock" className="narrow"><${Button} onPress=${enter}>Not now<//><//>`;
}

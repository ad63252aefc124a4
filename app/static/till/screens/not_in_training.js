import { html, Note, Screen } from "../ui.js";

export default function NotInTraining() {
  return html`
    <${Screen} title="Not in training" back="/till">
      <${Note}>The work session and sales that wait belong to the shop's own drawer. Training leaves them alone.<//>
      <a class="btn" href="/till/settings">Switch training off in Settings</a>
    <//>`;
}

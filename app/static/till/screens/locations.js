import { chooseLocation } from "../session.js";
import { useApp } from "../state.js";
import { html, Problem, Screen, useAction } from "../ui.js";
import { SignOut } from "./_sign_out.js";

export default function Locations() {
  const { locations } = useApp();
  const [choose, isBusy, error] = useAction(chooseLocation);
  return html`
    <${Screen} title="Where are you selling?" className="narrow">
      <${Problem}>${error}<//>
      <ul class="list">
        ${locations.map((place) => html`<li key=${place.id}>
          <button type="button" class="row-button" disabled=${isBusy} onClick=${() => choose(place)}>
            <span class="strong">${place.displayName}</span>
            <span class="muted small">${[place.address.line1, place.address.city].filter(Boolean).join(", ")}</span>
          </button></li>`)}
      </ul>
      <${SignOut} />
    <//>`;
}

// The till knows nothing of the shop and the location yet: what it may sell, in which currency, up to which amount.

import { enter, leaveLocation } from "../session.js";
import { useApp } from "../state.js";
import { Button, html, Note, Screen, useAction, useEffect } from "../ui.js";
import { SignOut } from "./_sign_out.js";

const EVERY = 5_000; // Milliseconds between tries.

export default function NotReady() {
  const { location, locations, notice } = useApp();
  const [again, isBusy] = useAction(enter);
  useEffect(() => {
    const timer = setInterval(again, EVERY);
    return () => clearInterval(timer);
  }, []);
  return html`
    <${Screen} title="Not ready yet" className="narrow">
      <p>The till has to ask the shop once how it sells at ${location.displayName}. It tries again by itself.</p>
      ${notice && html`<${Note} kind="warn">${notice}<//>`}
      <${Button} kind="primary big" isBusy=${isBusy} busy="Asking the shop…" onPress=${again}>Try again<//>
      ${locations.length > 1 && html`<${Button} onPress=${leaveLocation}>Choose another location<//>`}
      <${SignOut} />
    <//>`;
}

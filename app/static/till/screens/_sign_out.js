// Signing out from wherever it is offered: refused with the reason, or after a question about what would be lost.

import { signOut } from "../session.js";
import { Button, Dialog, html, Problem, useAction, useState } from "../ui.js";

/** The button, with its question. `onRefused` is called where signing out would lose money. */
export function SignOut({ kind = "quiet", onRefused = () => {} }) {
  const [lost, ask] = useState(null);
  const [leave, isBusy, error] = useAction(async (isSure) => {
    ask(null);
    const sales = await signOut(isSure).catch((refusal) => { onRefused(); throw refusal; });
    if (sales.length) ask(sales);
  });
  return html`
    <${Problem}>${error}<//>
    <${Button} kind=${kind} isBusy=${isBusy} busy="Signing out…" onPress=${() => leave(false)}>Sign out<//>
    ${lost && html`<${Dialog} title="Sign out?" onClose=${() => ask(null)}
      foot=${html`<${Button} onPress=${() => ask(null)}>Stay<//>
        <${Button} kind="danger" onPress=${() => leave(true)}>Sign out<//>`}>
      <p>Signing out removes everything from this device, also ${lost.join(" and ")}.</p><//>`}`;
}

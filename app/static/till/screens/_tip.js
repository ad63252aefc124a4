// The customer is asked for a tip before the card is taken.

import { money, parseMoney } from "../money.js";
import { beginCard } from "../payments.js";
import { Button, Field, html, Problem, Screen, useAction, useState } from "../ui.js";
import { ChangedDialog, Sum } from "./_sum.js";

const PERCENT = [10, 15, 20];

export function Tip({ sale, amount, shown, onBack }) {
  const { currency } = sale;
  const [text, setText] = useState("");
  const [problem, setProblem] = useState(null);
  const [changed, setChanged] = useState(null);
  const [take, isBusy, error] = useAction(async (tip) => {
    try {
      await beginCard({ amount, tip, shown });
    } catch (failure) {
      if (failure.code !== "total_changed") throw failure;
      setChanged(failure);
    }
  });
  const takeOther = (event) => {
    event.preventDefault();
    const tip = parseMoney(text, currency);
    setProblem(tip === null ? "Enter an amount such as 2.00." : null);
    if (tip !== null) take(tip);
  };
  return html`
    <${Screen} title="Take payment">
      <${Sum} amount=${amount} all=${amount} currency=${currency} />
      <${Problem}>${error}<//>
      <div role="group" aria-label="Tip" class="choices">
        <${Button} kind="big" isBusy=${isBusy} onPress=${() => take(0)}>No tip<//>
        ${PERCENT.map((percent) => {
          const tip = Math.round((amount * percent) / 100);
          return html`<${Button} key=${percent} kind="big" isBusy=${isBusy} onPress=${() => take(tip)}>
            ${`${percent}%: ${money(tip, currency)}`}<//>`;
        })}
      </div>
      <form class="stack" onSubmit=${takeOther} novalidate>
        <${Field} label="Another tip" id="tip" inputmode="decimal" autocomplete="off" value=${text} onInput=${setText}
          error=${problem} />
        <${Button} type="submit" isBusy=${isBusy} busy="Starting…">Add this tip<//>
      </form>
      <${Button} kind="quiet" disabled=${isBusy} onPress=${onBack}>Back<//>
      ${changed && html`<${ChangedDialog} from=${changed.from} to=${changed.to} currency=${currency}
        onClose=${onBack} />`}
    <//>`;
}

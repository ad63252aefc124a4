// Taking a payment for the sale under way: all that is due or a part of it, by card or in cash.

import { money, parseMoney } from "../money.js";
import { go, leadTo } from "../navigation.js";
import { checkOrder, isLastWord, settle } from "../order_check.js";
import { park } from "../parked_sales.js";
import { beginCard, limitProblem } from "../payments.js";
import { due, isToBeFinished, ORDER } from "../sale.js";
import { app, forgetNotice, update, useApp } from "../state.js";
import {
  Amount, Button, Dialog, Field, html, NOT_LOADED, Note, Problem, Screen, useAction, useEffect, useModule, useState,
} from "../ui.js";
import { CardPayment } from "./_card.js";
import { ChangedDialog, Sum } from "./_sum.js";
import { Tip } from "./_tip.js";

const ASIDE = "The sale is under Parked orders. Go on with it there once staff have looked at it.";
const AGAIN = 5_000; // Milliseconds until a sale that is paid is tried to be finished once more.

export default function Payment() {
  const { sale, payment } = useApp();
  useEffect(() => {
    if (!sale) go("/till", { replaces: true });
    else if (sale.isFinished && !payment) go("/till/done", { replaces: true });
    else if (isIncomplete(sale) && !payment) go("/till/order", { replaces: true });
  }, [sale, payment]);
  if (!sale || (sale.isFinished && !payment)) return null;
  if (payment?.tender === "CARD") return html`<${CardPayment} payment=${payment} sale=${sale} />`;
  if (!payment && isToBeFinished(sale)) return html`<${Finishing} sale=${sale} />`;
  if (!payment && isIncomplete(sale)) return null;
  return html`<${Choice} sale=${sale} payment=${payment} />`;
}

/** Whether it is not known yet what a scanned code stands for. */
function isIncomplete(sale) { return sale.unresolved?.length > 0 && !sale.isFinished && !isToBeFinished(sale); }

/** Everything is paid: the order is handed in, however often that takes, unless the shop refuses it. */
function Finishing({ sale }) {
  const [isRefused, setRefused] = useState(false);
  const [finish, isBusy, error] = useAction(async () => {
    try {
      if (await settle(sale.id)) leadTo("/till/done");
    } catch (failure) {
      setRefused(isLastWord(failure));
      throw failure;
    }
  });
  useEffect(() => {
    if (!isRefused) finish();
    const timer = isRefused ? null : setInterval(finish, AGAIN);
    return () => clearInterval(timer);
  }, [isRefused]);
  return html`
    <${Screen} title="Take payment" back="/till">
      <${Note} kind="warn">${isRefused
        ? "The payment was made, but the shop refuses to finish the sale. Staff of the shop must look at it."
        : "The payment was made. The sale is finished once the shop answers; nothing is charged again."}<//>
      <${Problem}>${error}<//>
      <${Button} kind="primary big" isBusy=${isBusy} busy="Finishing…" onPress=${finish}>Finish the sale<//>
      ${isRefused && html`<${Refused} sale=${sale} />`}
    <//>`;
}

/** A sale that the shop does not take as it was paid keeps the till from no other one. */
function Refused({ sale }) {
  const [setAside, isBusy, error] = useAction(async () => {
    await park(sale.label ?? null);
    update({ notice: ASIDE });
    go("/till", { replaces: true });
  });
  return html`
    <${Button} kind="big" icon="park" isBusy=${isBusy} onPress=${setAside}>Set it aside<//>
    <a class="btn" href="/till/transactions">Transactions</a>
    <${Problem}>${error}<//>`;
}

function Choice({ sale, payment }) {
  const [begun, begin] = useState(() => app().tender);
  const [part, setPart] = useState(null);
  const { amount: all, isChecked } = due(sale);
  const amount = part !== null && part < all ? part : all;
  useEffect(() => {
    update({ tender: null });
    return () => { forgetNotice(); update({ refusal: null }); };
  }, []);
  const leave = () => begin(null);
  const goOn = () => { setPart(null); leave(); };
  const isCash = begun === "CASH" || payment?.tender === "CASH"; // It may not be known yet whether that was taken.
  if (isCash) {
    const asked = payment?.request?.amount ?? amount;
    return html`<${LoadedCash} sale=${sale} amount=${asked} onTaken=${goOn} onBack=${leave} />`;
  }
  if (begun === "CARD") return html`<${Tip} sale=${sale} amount=${amount} shown=${all} onBack=${leave} />`;
  const sums = { amount, all, isChecked };
  return html`<${Tenders} sale=${sale} ...${sums} setPart=${setPart} begin=${begin} />`;
}

function Tenders({ sale, amount, all, isChecked, setPart, begin }) {
  const { configuration, isOnline, notice, refusal } = useApp();
  const [dialog, open] = useState(null);
  const [check, , checkError] = useAction(checkOrder);
  const [card, isBusy, error] = useAction(() => pressCard({ sale, amount, all, begin, open }));
  useEffect(() => { if (!isChecked && isOnline) check(); }, [isChecked, isOnline]);
  const takesCash = configuration?.permissions.cash !== false;
  const foot = html`
    <div class="choices">
      ${configuration?.processor !== "none" && html`<${Button} kind="primary huge" icon="card" isBusy=${isBusy}
        busy="Starting…" onPress=${card}>Card<//>`}
      ${takesCash && html`<${Button} kind="huge" icon="cash" disabled=${isBusy}
        onPress=${() => begin("CASH")}>Cash<//>`}
    </div>
    <${Button} kind="wide" disabled=${isBusy} onPress=${() => open({ kind: "part" })}>Part of the amount<//>`;
  return html`
    <${Screen} title="Take payment" back=${backOf(sale)} foot=${foot}>
      ${notice && html`<${Note}>${notice}<//>`}
      <${Sum} amount=${amount} all=${all} isChecked=${isChecked} currency=${sale.currency} />
      <${LoadedParts} sale=${sale} />
      <${Sold} sale=${sale} />
      <${Problem}>${error ?? checkError ?? refusal}<//>
      ${!isOnline && !error && html`<${Note} kind="warn">
        There is no network: cards cannot be taken until it is back.<//>`}
      ${dialog?.kind === "part" && html`<${PartDialog} all=${all} currency=${sale.currency} onClose=${() => open(null)}
        onChoose=${(chosen) => { setPart(chosen); open(null); }} />`}
      ${dialog?.kind === "changed" && html`<${ChangedDialog} ...${dialog} currency=${sale.currency}
        onClose=${() => open(null)} />`}
    <//>`;
}

async function pressCard({ sale, amount, all, begin, open }) {
  const { configuration } = app();
  const mayTip = configuration.tips && app().isOnline && !limitProblem(amount, sale.currency, { isCard: true });
  if (mayTip) return begin("CARD");
  try {
    return await beginCard({ amount, shown: all });
  } catch (error) {
    if (error.code !== "total_changed") throw error;
    return open({ kind: "changed", from: error.from, to: error.to });
  }
}

/** What is paid for. */
function Sold({ sale }) {
  if (sale.kind !== ORDER) return sale.description ? html`<p class="center muted">${sale.description}</p>` : null;
  return html`
    <ul class="card sold" aria-label="Items">
      ${sale.lines.map((line) => html`<li key=${line.skuCode} class="between">
        <span>${line.quantity} × ${line.name}</span>
        <${Amount} of=${line.quantity * line.unitPrice} currency=${sale.currency} /></li>`)}
      ${sale.discount > 0 && html`<li class="between"><span>Discount</span>
        <${Amount} of=${-sale.discount} currency=${sale.currency} /></li>`}
    </ul>`;
}

function PartDialog({ all, currency, onClose, onChoose }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState(null);
  const choose = (event) => {
    event.preventDefault();
    const part = parseMoney(text, currency);
    if (!part) setProblem("Enter an amount such as 5.00.");
    else if (part > all) setProblem(`No more than ${money(all, currency)} is due.`);
    else onChoose(part);
  };
  return html`
    <${Dialog} title="Part of the amount" onClose=${onClose}>
      <p class="muted">${money(all, currency)} is due. What is left is paid next, by card or in cash.</p>
      <form class="stack" onSubmit=${choose} novalidate>
        <${Field} label="Part to pay now" id="part" inputmode="decimal" autocomplete="off" value=${text}
          onInput=${setText} error=${problem} />
        <div class="choices">
          <${Button} onPress=${() => onChoose(Math.ceil(all / 2))}>Half: ${money(Math.ceil(all / 2), currency)}<//>
          <${Button} kind="primary" type="submit">Take this part<//>
        </div>
      </form>
    <//>`;
}

function LoadedCash({ sale, amount, onTaken, onBack }) {
  const [Cash, hasFailed] = useModule(() => import("./_cash.js"));
  const done = (isFinished) => (isFinished ? leadTo("/till/done") : onTaken());
  if (hasFailed && !Cash) {
    return html`<${Screen} title="Take payment"><${Problem}>${NOT_LOADED}<//><${Button} onPress=${onBack}>Back<//><//>`;
  }
  return Cash && html`<${Cash} sale=${sale} amount=${amount} onDone=${done} onBack=${onBack} />`;
}

/** What was paid so far. */
function LoadedParts({ sale }) {
  const [Parts] = useModule(() => import("./_parts.js"), sale.paid.length > 0);
  return Parts && html`<${Parts} sale=${sale} />`;
}

function backOf(sale) {
  if (sale.paid.length) return "/till";
  return sale.kind === ORDER ? "/till/order" : "/till/quick";
}

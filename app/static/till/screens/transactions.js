// The payments of the location, the newest first. Without a network: those that were loaded last, and that is said.

import { desk } from "../desk.js";
import { dateOf, dayOf, timeOf } from "../moments.js";
import { paidAmount, stateOf, STATUS_NAMES, tenderOf } from "../transaction_words.js";
import { change, read } from "../store.js";
import { app, useApp } from "../state.js";
import {
  Amount, Button, Field, html, Icon, Loading, Note, Problem, Screen, sentence, useEffect, useRef, useState,
} from "../ui.js";

const LOADED = "transactions"; // In the store `device`: what was loaded last.
const PAGE = 25;
const MOST_KEPT = 200;
const ALL = { startDate: "", endDate: "", status: "", tenderType: "", isMine: false };
let filters = ALL; // As they were left, for who comes back from a payment.

export default function Transactions() {
  const { isOnline, isTraining } = useApp();
  const [wanted, want] = useState(filters);
  const [shown, show] = useState(null); // {items, page, total, loadedAt (null: just now)}
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const turn = useRef(0);
  const load = async (page) => {
    const mine = turn.current += 1; // A later choice of filters makes this answer worthless.
    filters = wanted;
    setBusy(true);
    const found = loadPage(wanted, page, page > 1 ? shown.items : []);
    const [next, failure] = await found.then((answer) => [answer], (error) => [null, error]);
    if (mine !== turn.current) return;
    if (next) show(next);
    setError(failure ? sentence(failure) : null);
    setBusy(false);
  };
  useEffect(() => { load(1); }, [wanted, isTraining]);
  useEffect(() => { if (isOnline && shown?.loadedAt) load(1); }, [isOnline]);
  return html`
    <${Screen} title="Transactions" back="/till">
      <${Filters} wanted=${wanted} onChange=${want} />
      <${Problem}>${error}<//>
      ${!shown && isBusy && html`<${Loading} />`}
      ${shown?.loadedAt && html`<${Note} kind="warn">
        ${isOnline ? "The shop does not answer" : "Offline"}: ${agedWords(shown)}<//>`}
      ${shown && html`
        <p class=${shown.total ? "muted small" : "nothing"} role="status">${countOf(shown)}</p>
        <${Days} items=${shown.items} />`}
      ${shown && shown.items.length < shown.total && html`
        <${Button} onPress=${() => load(shown.page + 1)} isBusy=${isBusy} busy="Loading…">Show more<//>`}
    <//>`;
}

function agedWords({ loadedAt }) { return `these are from ${dayOf(loadedAt)}, ${timeOf(loadedAt)}.`; }

function countOf({ items, total }) {
  if (!total) return "No payments.";
  return `${items.length === total ? "" : `${items.length} of `}${total} ${total === 1 ? "payment" : "payments"}`;
}

/** A page from the shop, added to those before it; without an answer, what was loaded last. Raises ApiError. */
async function loadPage(wanted, page, before) {
  try {
    const answer = await desk().listTransactions(queryOf(wanted, page));
    const known = new Set(before.map((one) => one.id)); // New payments shift the pages.
    const items = [...before, ...answer.items.filter((one) => !known.has(one.id))];
    if (!app().isTraining) await keep(items);
    return { items, page, total: Math.max(answer.totalItems, items.length), loadedAt: null };
  } catch (error) {
    const kept = await read("device", LOADED);
    if (error.status !== 0 || page > 1 || kept?.locationId !== app().location.id) throw error;
    const items = kept.items.filter((one) => isWanted(one, wanted));
    return { items, page: 1, total: items.length, loadedAt: kept.loadedAt };
  }
}

/** Keep what was loaded, with what was before, for when there is no network. */
async function keep(items) {
  const locationId = app().location.id;
  await change("device", LOADED, (before) => {
    const known = new Map((before?.locationId === locationId ? before.items : []).map((one) => [one.id, one]));
    for (const one of items) known.set(one.id, one);
    const latest = [...known.values()].sort((a, b) => b.created.localeCompare(a.created)).slice(0, MOST_KEPT);
    return { locationId, loadedAt: new Date().toISOString(), items: latest };
  });
}

/** A payment as it was loaded last, undefined where it was not. */
export async function keptPayment(id) { return (await read("device", LOADED))?.items.find((one) => one.id === id); }

function queryOf({ isMine, ...wanted }, pageNumber) {
  const given = Object.entries(wanted).filter(([, value]) => value);
  return { ...Object.fromEntries(given), ...(isMine ? { agentId: app().agent.id } : {}), pageSize: PAGE, pageNumber };
}

function isWanted(one, { startDate, endDate, status, tenderType, isMine }) {
  const day = dateOf(one.created);
  return (!startDate || day >= startDate) && (!endDate || day <= endDate) && (!status || one.status === status)
    && (!tenderType || one.tenderType === tenderType) && (!isMine || one.agentId === app().agent.id);
}

function Filters({ wanted, onChange }) {
  const count = Object.values(wanted).filter(Boolean).length;
  const [isOpen, setOpen] = useState(count > 0);
  const set = (name) => (value) => onChange({ ...wanted, [name]: value });
  return html`
    <details class="filters" open=${isOpen} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>Filters${count > 0 && html` <span class="count">${count}</span>`}</summary>
      <div class="filter-fields">
        <${Field} label="From" id="from" type="date" value=${wanted.startDate} max=${wanted.endDate}
          onInput=${set("startDate")} />
        <${Field} label="To" id="to" type="date" value=${wanted.endDate} min=${wanted.startDate}
          onInput=${set("endDate")} />
        <${Choice} label="Status" id="status" value=${wanted.status} onChange=${set("status")}
          options=${STATUS_NAMES} />
        <${Choice} label="Paid with" id="tender" value=${wanted.tenderType} onChange=${set("tenderType")}
          options=${[["CARD", "Card"], ["CASH", "Cash"]]} />
      </div>
      <div class="row apart">
        <label class="check"><input type="checkbox" checked=${wanted.isMine}
          onChange=${(event) => set("isMine")(event.target.checked)} /> Only mine</label>
        ${count > 0 && html`<${Button} kind="quiet" onPress=${() => onChange(ALL)}>Clear<//>`}
      </div>
    </details>`;
}

function Choice({ label, id, value, options, onChange }) {
  return html`
    <div class="field"><label for=${id}>${label}</label>
      <select id=${id} value=${value} onChange=${(event) => onChange(event.target.value)}>
        <option value="">Any</option>
        ${options.map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}
      </select></div>`;
}

/** The payments under a heading for each day. */
function Days({ items }) {
  const days = new Map();
  for (const one of items) {
    const day = dayOf(one.created);
    days.set(day, [...(days.get(day) ?? []), one]);
  }
  return [...days].map(([day, ofDay]) => html`
    <section key=${day} class="day"><h2>${day}</h2>
      <ul class="list">${ofDay.map((one) => html`<li key=${one.id}><${Row} payment=${one} /></li>`)}</ul></section>`);
}

function Row({ payment }) {
  const state = stateOf(payment);
  const who = payment.agentId === app().agent?.id ? "You" : null;
  const more = [timeOf(payment.created), tenderOf(payment), payment.orderNumber && `Order ${payment.orderNumber}`, who];
  return html`
    <a class="payment-row" href=${`/till/transactions/${payment.id}`}>
      <${Icon} name=${payment.tenderType === "CASH" ? "cash" : "card"} />
      <span class="payment-what"><${Amount} of=${paidAmount(payment)} currency=${payment.currency} className="strong" />
        <span class="muted small">${more.filter(Boolean).join(" · ")}</span></span>
      <span class=${`badge ${state.kind}`}>${state.label}</span>
    </a>`;
}

// The numbers of an X or Z report.

import { momentOf } from "../moments.js";
import { money } from "../money.js";
import { brandOf } from "../transaction_words.js";
import { html } from "../ui.js";

/** `level` of the headings: one below that of the dialog or the screen around. */
export function Report({ report, level = 3 }) {
  const { currency, unresolved: open, unresolvedRefunds: openRefunds } = report;
  return html`
    <div class="report">
      <${Rows} level=${level} title="Session" rows=${facts(report)} />
      <${Rows} level=${level} title="Taken" rows=${taken(report)} currency=${currency} />
      <${Rows} level=${level} title="Drawer" rows=${drawer(report)} currency=${currency} />
      ${report.otherLocations.length > 0 && html`
        <${Rows} level=${level} title="Of this, elsewhere" rows=${elsewhere(report)} currency=${currency} />`}
      ${open.count + openRefunds.count > 0 && html`
        <${Rows} level=${level} title="Not known yet" rows=${unresolved(report)} currency=${currency} />`}
      ${report.session.closingNote && html`<p><span class="strong">Note</span> ${report.session.closingNote}</p>`}
      ${report.journalHead && html`<p class="small muted">Head of the journal
        <span class="mono">${report.journalHead}</span></p>`}
    </div>`;
}

/** Rows are `[name, amount or text, isStrong]`. */
function Rows({ level, title, rows, currency }) {
  return html`
    <section><${`h${level}`} class="report-title">${title}<//>
      <dl>${rows.map(([name, value, isStrong]) => html`<div key=${name} class=${`between ${isStrong ? "strong" : ""}`}>
        <dt>${name}</dt>
        <dd class="n">${typeof value === "number" ? money(value, currency) : value ?? "–"}</dd></div>`)}</dl>
    </section>`;
}

function facts({ session, generatedAt, zNumber }) {
  const rows = [["Opened", momentOf(session.startedAt)]];
  rows.push(session.closedAt ? ["Closed", momentOf(session.closedAt)] : ["Made", momentOf(generatedAt)]);
  if (zNumber) rows.unshift(["Number", String(zNumber)]);
  if (session.deviceName) rows.push(["Device", session.deviceName]);
  return rows;
}

function taken({ tenders: { cash, card }, total, tips, tipsRefunded }) {
  const rows = [[`Cash, ${payments(cash.count)}`, cash.sales], [`Card, ${payments(card.count)}`, card.sales]];
  for (const one of card.byBrand) rows.push([`${brandOf(one.brand)}, ${payments(one.count)}`, one.sales]);
  rows.push([`Sales, ${payments(total.count)}`, total.gross, true]);
  rows.push(["Refunds in cash", -cash.refunds], ["Refunds to cards", -card.refunds], ["Net", total.net, true]);
  rows.push(["Tips by card, in no sum above", tips]);
  if (tipsRefunded) rows.push(["Of the refunds is tip", tipsRefunded]);
  return rows;
}

function drawer({ openingFloat, tenders, rounding, movements, expectedCash, countedCash, difference }) {
  const rows = [
    ["Opening float", openingFloat], ["Cash sales", tenders.cash.sales], ["Rounding", rounding],
    ["Cash refunds", -tenders.cash.refunds], ["Pay in", movements.payIn], ["Pay out", -movements.payOut],
    ["Drop", -movements.drop], ["Expected", expectedCash, true],
  ];
  return countedCash === null ? rows : [...rows, ["Counted", countedCash, true], ["Difference", difference, true]];
}

function elsewhere({ otherLocations }) {
  return otherLocations.flatMap(({ displayName, cash, card }) =>
    [[`${displayName}, in cash`, cash.sales], [`${displayName}, by card`, card.sales]]);
}

function unresolved({ unresolved: open, unresolvedRefunds: refunds }) {
  const rows = [];
  if (open.count) rows.push([payments(open.count), open.amount]);
  if (refunds.count) rows.push([refunds.count === 1 ? "1 refund" : `${refunds.count} refunds`, refunds.amount]);
  return rows;
}

const payments = (count) => `${count} ${count === 1 ? "payment" : "payments"}`;

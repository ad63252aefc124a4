// An X or Z report as bytes, from what the shop answers at /v1/pos/sessions/{id}/report.

import { money } from "../money.js";
import { Paper, moment } from "./paper.js";

/** The bytes of a report. `heading`: `{shop, location, timeZone}`, which the report itself does not have; `options`:
    those of Paper. Returns a Uint8Array. */
export function reportBytes(report, heading, options = {}) {
  const paper = new Paper(options);
  paper.heading(report.zNumber ? `Z report ${report.zNumber}` : `${report.type} report`);
  paper.centered(heading.shop, heading.location).rule().rows(facts(report, heading.timeZone)).rule();
  paper.rows(taken(report)).rule();
  if (report.otherLocations.length) paper.line("Of this, elsewhere").rows(elsewhere(report)).rule();
  paper.rows(drawer(report));
  if (report.unresolved.count || report.unresolvedRefunds.count) paper.rule().rows(unresolved(report));
  if (report.session.closingNote) paper.rule().line(report.session.closingNote);
  if (report.journalHead) paper.rule().line("Head of the journal").line(report.journalHead);
  return paper.cut().bytes();
}

function facts({ session, generatedAt }, timeZone) {
  const rows = [["Opened", moment(session.startedAt, timeZone)]];
  const { closedAt } = session;
  rows.push(closedAt ? ["Closed", moment(closedAt, timeZone)] : ["Printed", moment(generatedAt, timeZone)]);
  return session.deviceName ? [...rows, ["Device", session.deviceName]] : rows;
}

function taken({ tenders: { cash, card }, total, tips, tipsRefunded, currency }) {
  const rows = [[`Cash, ${payments(cash.count)}`, money(cash.sales, currency)]];
  for (const { brand, count, sales } of card.byBrand) {
    rows.push([`${named(brand)}, ${payments(count)}`, money(sales, currency)]);
  }
  rows.push([`Sales, ${payments(total.count)}`, money(total.gross, currency), { isStrong: true }]);
  if (cash.refunds) rows.push(["Refunds in cash", money(-cash.refunds, currency)]);
  if (card.refunds) rows.push(["Refunds to cards", money(-card.refunds, currency)]);
  rows.push(["Net", money(total.net, currency), { isStrong: true }]);
  if (tips) rows.push(["Tips by card, in no sum above", money(tips, currency)]);
  if (tipsRefunded) rows.push(["Of the refunds is tip", money(tipsRefunded, currency)]);
  return rows;
}

function elsewhere({ otherLocations, currency }) {
  return otherLocations.flatMap(({ displayName, cash, card }) => [
    [`${displayName}, in cash`, money(cash.sales, currency)], [`${displayName}, by card`, money(card.sales, currency)],
  ]);
}

function drawer({ openingFloat, tenders, rounding, movements, expectedCash, countedCash, difference, currency }) {
  const amount = (minor) => (minor === null ? "-" : money(minor, currency));
  return [
    ["Opening float", amount(openingFloat)],
    ["Cash sales", amount(tenders.cash.sales)],
    ["Rounding", amount(rounding)],
    ["Cash refunds", amount(-tenders.cash.refunds)],
    ["Pay in", amount(movements.payIn)],
    ["Pay out", amount(-movements.payOut)],
    ["Drop", amount(-movements.drop)],
    ["Expected", amount(expectedCash), { isStrong: true }],
    ["Counted", amount(countedCash)],
    ["Difference", amount(difference), { isStrong: true }],
  ];
}

function unresolved({ unresolved: open, unresolvedRefunds: refunds, currency }) {
  const rows = [];
  if (open.count) rows.push([`Not known yet, ${payments(open.count)}`, money(open.amount, currency)]);
  if (refunds.count) rows.push([`Not known yet, refunds: ${refunds.count}`, money(refunds.amount, currency)]);
  return rows;
}

const payments = (count) => `${count} ${count === 1 ? "payment" : "payments"}`;

const named = (brand) => brand.charAt(0).toUpperCase() + brand.slice(1).replaceAll("_", " ");

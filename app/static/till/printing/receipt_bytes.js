// A receipt as the bytes that a receipt printer takes, from what the shop answers at …/transactions/{id}/receipt.

import { money } from "../money.js";
import { Paper, moment, printable } from "./paper.js";

export { reportBytes } from "./report_bytes.js";

/** The bytes of a receipt. `shown`: `{receipt, url}`, the shop's answer; a sale without a network has no `url` yet.
    `options`: those of Paper. Returns a Uint8Array. */
export function receiptBytes({ receipt, url }, options = {}) {
  const paper = new Paper(options);
  paper.heading(receipt.shop).centered(receipt.location, ...receipt.address).rule();
  paper.rows(facts(receipt)).rule();
  if (receipt.lines.length) paper.rows(bought(receipt)).rule();
  paper.rows(paid(receipt));
  if (receipt.card.length) paper.rule().rows(receipt.card.map(({ label, value }) => [label, value]));
  if (receipt.refunds.length) paper.rule().rows(refunded(receipt));
  if (url) paper.gap().qrCode(url).centered("This receipt on the web");
  return paper.cut().bytes();
}

/** The bytes of a page that shows whether the paper has as many columns as was chosen, and the letters of receipts. */
export function testPageBytes(options = {}) {
  const { columns = 42 } = options;
  const ruler = "1234567890".repeat(5).slice(0, columns);
  const paper = new Paper(options).heading("Test page").line(ruler);
  paper.line(`These digits fill one line of ${columns} letters.`);
  return paper.row("Pounds and euros", "£ €").row("Letters", "é ñ ß Ø Ł ж Ω").cut().bytes();
}

/** The bytes that open the drawer and print nothing. */
export function drawerBytes(options = {}) { return new Paper(options).openDrawer().bytes(); }

function facts(receipt) {
  const rows = [["Receipt", receipt.number], ["Paid", moment(receipt.paidAt, receipt.timeZone)]];
  return receipt.orderNumber ? [...rows, ["Order", receipt.orderNumber]] : rows;
}

function bought({ lines, subtotal, discount, tax, otherPayments, currency }) {
  const rows = lines.map(({ name, detail, quantity, lineTotal }) =>
    [`${quantity} x ${printable(name)}${detail ? ` (${detail})` : ""}`, money(lineTotal, currency)]);
  if (discount || tax) rows.push(["Subtotal", money(subtotal, currency)]);
  if (discount) rows.push(["Discount", money(-discount, currency)]);
  if (tax) rows.push(["Tax", money(tax, currency)]);
  if (otherPayments.length) rows.push(["Total", money(subtotal - discount + tax, currency), { isStrong: true }]);
  return rows;
}

function paid({ otherPayments, tender, paid, tip, rounding, handedOver, change, currency }) {
  const isCash = tender === "CASH";
  const rows = otherPayments.map((other) =>
    [other.tender === "CASH" ? "Also paid in cash" : "Also paid by card", money(other.amount, currency)]);
  rows.push([isCash ? "Paid in cash" : "Paid by card", money(paid, currency), { isStrong: true }]);
  if (tip) rows.push(["Tip", money(tip, currency)], ["Charged to the card", money(paid + tip, currency)]);
  if (isCash && rounding) rows.push(["Rounding", money(rounding, currency)]);
  if (isCash) rows.push(["Handed over", money(handedOver, currency)], ["Change", money(change, currency)]);
  return rows;
}

function refunded({ refunds, paid, tip, currency, timeZone }) {
  const rows = refunds.flatMap(({ at, tender, amount, rounding }) => [
    [`Refunded ${tender === "CASH" ? "in cash" : "to the card"}, ${moment(at, timeZone)}`, money(-amount, currency)],
    ...(rounding ? [["Handed out", money(amount + rounding, currency)]] : []),
  ]);
  const left = refunds.reduce((sum, refund) => sum - refund.amount, paid + tip);
  return [...rows, ["Left", money(left, currency), { isStrong: true }]];
}

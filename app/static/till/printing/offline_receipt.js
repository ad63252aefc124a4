// The receipt of a sale without a network, from the log of offline.js, as the shop will answer it once it has the sale.

const NUMBER = "Not sent yet";

/** `{receipt, url}` as receiptBytes takes it: `record` is that of the log, `configuration` the till's. */
export function offlineReceipt(record, configuration) {
  const { soldAt, currency, lines, total, toPay, tenderedInPence, change } = record;
  const { shopName, displayName, address, timeZone } = configuration;
  const receipt = {
    shop: shopName, location: displayName, address: addressLines(address), number: NUMBER, orderNumber: null,
    paidAt: soldAt, timeZone, currency, lines: lines.map(lineOf), subtotal: total, discount: 0, tax: 0,
    otherPayments: [], tender: "CASH", paid: total, tip: 0, rounding: toPay - total, handedOver: tenderedInPence,
    change, card: [], refunds: [],
  };
  return { receipt, url: null };
}

function addressLines({ line1, line2, city, state, postalCode, country }) {
  const town = [city, state, postalCode].filter(Boolean).join(" ");
  return [line1, line2, town, country].filter(Boolean);
}

function lineOf({ name, detail, quantity, unitPriceInPence }) {
  return { name, detail: detail ?? "", quantity, unitPrice: unitPriceInPence, lineTotal: quantity * unitPriceInPence };
}

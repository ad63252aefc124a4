// Amounts in minor units, and as people write them. Never a float between the two.

const digits = new Map();
const formats = new Map();

function format(currency) {
  if (!formats.has(currency)) {
    formats.set(currency, new Intl.NumberFormat("en-GB", { style: "currency", currency: currency.toUpperCase() }));
  }
  return formats.get(currency);
}

/** The number of decimal places of a currency: 2 for gbp, 0 for jpy. */
export function decimals(currency) {
  if (!digits.has(currency)) digits.set(currency, format(currency).resolvedOptions().maximumFractionDigits);
  return digits.get(currency);
}

/** An amount in minor units as text: 1250 in gbp is "£12.50". A negative one has a minus sign before it. */
export function money(minor, currency) {
  const places = decimals(currency);
  const text = format(currency).format(Math.abs(minor) / 10 ** places);
  return minor < 0 ? `−${text}` : text;
}

/** What is written as minor units, null where it is no amount: "12.5" and "12,50" are 1250 in gbp. */
export function parseMoney(text, currency) {
  const places = decimals(currency);
  const found = /^(\d{1,9})(?:[.,](\d*))?$/.exec(text.replace(/[\s£$€]/g, ""));
  if (!found || (found[2] ?? "").length > places) return null;
  return Number(found[1]) * 10 ** places + Number((found[2] ?? "").padEnd(places, "0") || 0);
}

/** An amount for a text field: 1250 in gbp is "12.50". */
export function amountText(minor, currency) {
  const places = decimals(currency);
  return places ? (minor / 10 ** places).toFixed(places) : String(minor);
}

/** The amount that is handed over in cash: rounded half up to a multiple of `step` minor units. */
export function rounded(minor, step) {
  return step ? Math.floor((minor + Math.floor(step / 2)) / step) * step : minor;
}

/** The notes and coins of a currency in minor units, the largest first; empty where they are not known. */
export function denominations(currency) {
  return {
    gbp: [5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1],
    eur: [50000, 20000, 10000, 5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1],
    usd: [10000, 5000, 2000, 1000, 500, 100, 25, 10, 5, 1],
  }[currency] ?? [];
}

/** What a customer may hand over for an amount: the exact amount and the notes above it, at most five. */
export function likelyTenders(minor, currency) {
  const notes = denominations(currency).filter((one) => one >= 5 * 10 ** decimals(currency)).reverse();
  const above = notes.map((note) => Math.ceil(minor / note) * note);
  return [...new Set([minor, ...above.sort((a, b) => a - b)])].slice(0, 5);
}

// Payments in words: how they stand, and how they were paid.

const CARD_STATES = {
  PENDING: ["Waiting for card", "", "No card has paid yet. Unless one does, the shop gives it up within half an hour."],
  PROCESSING: ["Processing", "warn", "The card is being charged. Look again in a moment."],
  AUTHORIZED: ["Held on card", "warn", "The money is held on the card. The shop takes it in a moment."],
  UNKNOWN: [
    "We don't know yet", "warn",
    "Nobody has said yet whether the card was charged. The shop finds out by itself. Do not charge it again.",
  ],
  CANCELLED: ["Cancelled", "", "It was given up. No money was taken."],
};
const STATES = {
  SUCCEEDED: ["Paid", "good", ""],
  PARTIALLY_REFUNDED: ["Partly refunded", "warn", "A part was given back."],
  REFUNDED: ["Refunded", "", "All of it was given back."],
  CANCELLED: ["Taken back", "", "The cash was given back before the sale was over."],
  FAILED: ["Failed", "bad", "It was refused. No money was taken."],
};
const BRANDS = { visa: "Visa", mastercard: "Mastercard", amex: "American Express", unionpay: "UnionPay", jcb: "JCB" };

/** How a payment stands: `{label, kind (of badge), sentence}`. */
export function stateOf({ status, tenderType }) {
  const [label, kind, sentence] = (tenderType === "CARD" && CARD_STATES[status]) || STATES[status] || [status, "", ""];
  return { label, kind, sentence };
}

/** Every status that the list can be filtered by, with its words. */
export const STATUS_NAMES = Object.entries({ ...STATES, ...CARD_STATES })
  .map(([status, [label]]) => [status, status === "CANCELLED" ? "Cancelled or taken back" : label]);

/** How it was paid: "Visa •••• 4242", "Card", "Cash". */
export function tenderOf({ tenderType, cardBrand, cardLast4 }) {
  if (tenderType === "CASH") return "Cash";
  const brand = cardBrand ? brandOf(cardBrand) : "Card";
  return cardLast4 ? `${brand} •••• ${cardLast4}` : brand;
}

/** The name of a card's brand: "American Express", "Diners club". */
export function brandOf(brand) {
  return BRANDS[brand] ?? brand.replace(/^./, (first) => first.toUpperCase()).replaceAll("_", " ");
}

/** What was paid in all: with the tip, and as cash was rounded. */
export function paidAmount({ amountInPence, tipInPence, roundingInPence }) {
  return amountInPence + (tipInPence ?? 0) + (roundingInPence ?? 0);
}

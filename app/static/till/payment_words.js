// A card payment in people's words.

const LOST = "The bank refused this card"; // A customer is not to read on a screen that a card is reported as stolen.
const DECLINED = {
  insufficient_funds: "There is not enough money on the card",
  withdrawal_count_limit_exceeded: "The card’s limit is used up",
  card_velocity_exceeded: "The card’s limit is used up",
  lost_card: LOST,
  stolen_card: LOST,
  pickup_card: LOST,
  expired_card: "The card has expired",
  processing_error: "The bank could not process the card",
  try_again_later: "The bank could not process the card",
  incorrect_pin: "The PIN was wrong",
  invalid_pin: "The PIN was wrong",
  pin_try_exceeded: "The PIN was wrong too often",
  authentication_required: "The bank wants the card again, to be sure of its holder",
  offline_pin_required: "The card must be inserted, with its PIN",
  online_or_offline_pin_required: "The card must be inserted, with its PIN",
  call_issuer: "The customer must call the bank",
  card_not_supported: "The card cannot be used here",
  currency_not_supported: "The card cannot pay in this currency",
};

/** The reason of a refusal by its code; one that is not known here is the bank's. */
function declineWords(code) { return DECLINED[code] ?? "The bank declined the card"; }

/** What the status of a payment says: `{text, kind}`; `kind` is "", "busy", "good", "warn" or "bad". */
export function statusOf(payment) {
  switch (payment.state) {
    case "starting": return { text: "Starting the payment", kind: "busy" };
    case "reader": return { text: "Choose a card reader", kind: "" };
    case "waiting": return { text: "Waiting for card", kind: "busy" };
    case "pin": return { text: "Enter PIN on the reader", kind: "busy" };
    case "processing": return { text: "Processing", kind: "busy" };
    case "declined": return payment.declineCode
      ? { text: `Declined: ${declineWords(payment.declineCode)}`, kind: "bad" }
      : { text: "No card was taken", kind: "warn" };
    case "approved": return { text: "Approved", kind: "good" };
    default: return { text: "We don't know yet", kind: "warn" };
  }
}

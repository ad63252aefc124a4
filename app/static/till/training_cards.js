// The simulated cards of the payments contract, as training plays them and as help explains them.

const declined = (declineCode, code = "card_declined") => ({ code, declineCode });

/* By name: {last4, brand, means (in words), error (the issuer's refusal), paysAtSecondTap, asksForPin, becomes (the
   intent's status once the issuer agreed), answer ("lost": paid, but no answer; "never": nothing happened),
   unreadable ([code, reason]: no attempt was made), refundsFail} */
export const CARDS = {
  visa: { last4: "4242", means: "Pays." },
  mastercard: { last4: "4444", brand: "mastercard", means: "Pays." },
  amex: { last4: "0005", brand: "amex", means: "Pays." },
  debit: { last4: "5556", means: "Pays." },
  declined: { last4: "0002", error: declined("generic_decline"), means: "Is declined without a reason." },
  insufficient: { last4: "9995", error: declined("insufficient_funds"), means: "Is declined: too little money." },
  lost: { last4: "9987", error: declined("lost_card"), means: "Is declined: reported lost." },
  stolen: { last4: "9979", error: declined("stolen_card"), means: "Is declined: reported stolen." },
  expired: { last4: "0069", error: declined("expired_card", "expired_card"), means: "Is declined: too old." },
  processing_error: {
    last4: "0119", error: declined("processing_error", "processing_error"), means: "Fails at the bank; try again.",
  },
  pin_required: { last4: "0008", asksForPin: true, means: "Wants a PIN on the reader: 1234." },
  sca_retry: {
    last4: "0075", error: declined("authentication_required"), paysAtSecondTap: true,
    means: "Is declined at the first tap and pays at the second.",
  },
  slow: { last4: "4242", becomes: "processing", means: "Pays after three seconds." },
  lost_response: { last4: "4242", answer: "lost", means: "Pays, but the answer gets lost." },
  timeout_not_charged: { last4: "4242", answer: "never", means: "No answer comes, and nothing was charged." },
  stuck_capture: { last4: "4242", becomes: "requires_capture", means: "The money is held first, then taken." },
  late_event: { last4: "4242", means: "Pays; the processor reports it late." },
  duplicate_event: { last4: "4242", means: "Pays; the processor reports it twice." },
  event_first: { last4: "4242", means: "Pays; the report comes before the answer." },
  out_of_order: { last4: "4242", means: "Pays; the reports come in the wrong order." },
  removed_early: {
    last4: "4242", unreadable: ["card_removed_early", "The card was taken away too early."],
    means: "Is taken away too early: hold it again.",
  },
  reader_offline: {
    last4: "4242", unreadable: ["reader_offline", "The card reader is offline."], means: "The reader is offline.",
  },
  refund_fail: { last4: "5126", refundsFail: true, means: "Pays; a refund is accepted and fails later." },
};

export const PIN = "1234";

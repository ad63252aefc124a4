"""Cards that customers of a test tap, by the names that the shop's simulator has for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Card:
    """`code` and `decline_code` of one that is declined. `held` leaves the intent in requires_capture."""

    last4: str
    brand: str = "visa"
    funding: str = "credit"
    code: str = ""
    decline_code: str = ""
    held: bool = False
    refunds_fail: bool = False

    def details(self) -> dict[str, Any]:
        """`payment_method_details` of a charge."""
        receipt = {
            "account_type": self.funding,
            "application_cryptogram": "D8B1A2C3E4F50617",
            "application_preferred_name": f"{self.brand.title()} {self.funding}".upper(),
            "authorization_code": "123456",
            "authorization_response_code": "3030",
            "cardholder_verification_method": "none",
            "dedicated_file_name": "A0000000031010",
            "terminal_verification_results": "0000000000",
            "transaction_status_information": "0000",
        }
        return {
            "type": "card_present",
            "card_present": {
                "brand": self.brand,
                "cardholder_name": "DOE/JANE",
                "country": "GB",
                "funding": self.funding,
                "last4": self.last4,
                "network": self.brand,
                "read_method": "contactless_emv",
                "receipt": receipt,
                "wallet": {"type": "unknown"},
            },
        }


CARDS = {
    "visa": Card("4242"),
    "mastercard": Card("4444", "mastercard"),
    "amex": Card("0005", "amex"),
    "debit": Card("5556", funding="debit"),
    "declined": Card("0002", code="card_declined", decline_code="generic_decline"),
    "insufficient": Card("9995", code="card_declined", decline_code="insufficient_funds"),
    "lost": Card("9987", code="card_declined", decline_code="lost_card"),
    "stolen": Card("9979", code="card_declined", decline_code="stolen_card"),
    "expired": Card("0069", code="expired_card", decline_code="expired_card"),
    "processing_error": Card("0119", code="processing_error", decline_code="processing_error"),
    "stuck_capture": Card("4242", held=True),
    "refund_fail": Card("5126", refunds_fail=True),
}

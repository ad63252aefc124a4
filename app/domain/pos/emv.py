"""The fields of a card's chip that a receipt must show (EMV, and the rules of card schemes), by name in `emv`. Pure."""

from __future__ import annotations

RECEIPT_FIELDS = (
    ("applicationPreferredName", "Application"),
    ("dedicatedFileName", "AID"),
    ("authorizationCode", "Authorisation code"),
    ("cardholderVerificationMethod", "Verified by"),
    ("accountType", "Account type"),
)

"""Stripe Terminal as the shop's payment processor. Importing this takes a while: do it where it was chosen."""

from app.adapters.stripe.processor import StripeProcessor

__all__ = ["StripeProcessor"]

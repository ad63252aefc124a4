"""Template filters for the status, anomaly and card of a transaction."""

from __future__ import annotations

from app.blueprints.admin.blueprint import bp
from app.domain.pos import states
from app.domain.shared.money import decimal_text, decimals

BADGES = {
    "PROCESSING": "warn",
    "AUTHORIZED": "warn",
    "SUCCEEDED": "good",
    "PARTIALLY_REFUNDED": "good",
    "FAILED": "bad",
    "UNKNOWN": "bad",
}

bp.add_app_template_filter(states.status_label, "pos_status")
bp.add_app_template_filter(states.anomaly_text, "pos_anomaly")
bp.add_app_template_filter(states.in_words, "in_words")
bp.add_app_template_global(states.card_name, "card_name")
bp.add_app_template_filter(decimal_text, "decimal")


@bp.app_template_filter("pos_status_kind")
def status_kind(status: str) -> str:
    """Return the kind of the status's badge; a plain one has none."""
    return BADGES.get(status, "")


@bp.app_template_filter("amount_example")
def amount_example(currency: str) -> str:
    """An amount as it is typed in this currency: 250 yen have no decimals."""
    return decimal_text(250 * 10 ** decimals(currency), currency)

"""Template filters that say how a transaction stands."""

from __future__ import annotations

from app.blueprints.admin.blueprint import bp
from app.domain.pos.reports import summaries
from app.domain.shared.money import decimal_text

bp.add_app_template_filter(summaries.status_label, "pos_status")
bp.add_app_template_filter(summaries.status_kind, "pos_status_kind")
bp.add_app_template_filter(summaries.anomaly_text, "pos_anomaly")
bp.add_app_template_filter(summaries.in_words, "in_words")
bp.add_app_template_global(summaries.card_name, "card_name")
bp.add_app_template_filter(decimal_text, "decimal")

"""The menu of Mobile POS, the same on every page of it."""

from __future__ import annotations

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import Tab, section_tabs

PAGES = (
    ("Overview", "admin.pos_overview"),
    ("Transactions", "admin.pos_transactions"),
    ("Reports", "admin.pos_reports"),
    ("Journal", "admin.pos_journal"),
    ("Agents", "admin.pos_agents"),
    ("Settings", "admin.pos_settings"),
)


@bp.app_template_global("pos_tabs")
def pos_tabs(tab_of: str | None = None) -> list[Tab]:
    return section_tabs(PAGES, tab_of)

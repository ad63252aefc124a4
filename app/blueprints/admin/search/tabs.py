"""The menu of the Search section, the same on every page of it."""

from __future__ import annotations

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import Tab, section_tabs

PAGES = (
    ("Overview", "admin.search_overview"),
    ("Analytics", "admin.search_analytics"),
    ("Synonyms", "admin.search_synonyms"),
    ("Search terms", "admin.search_terms"),
    ("Rules and ranking", "admin.search_ranking"),
    ("Merchandising trees", "admin.trees_list"),
    ("Test a search", "admin.search_test"),
    ("Golden searches", "admin.search_golden"),
    ("Judgement lists", "admin.judgement_lists"),
    ("Activity", "admin.search_history"),
    ("Settings", "admin.search_settings"),
)


@bp.app_template_global("search_tabs")
def search_tabs(tab_of: str | None = None) -> list[Tab]:
    return section_tabs(PAGES, tab_of)


def tab_of_kind(kind: str | None) -> str | None:
    """Return the endpoint of the tab to which the preview of a kind of proposal belongs; None for another kind."""
    tabs = {
        "synonym": "admin.search_synonyms",
        "rule": "admin.search_ranking",
        "terms": "admin.search_terms",
        "ranking": "admin.search_ranking",
        "learning": "admin.search_settings",
        "meaning": "admin.search_settings",
        "understanding": "admin.search_settings",
    }
    return tabs.get(kind or "")

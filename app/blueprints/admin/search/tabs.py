"""The menu of the Search section, the same on every page of it, and the pages that stand within one of its pages."""

from __future__ import annotations

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import Tab, section_tabs

PAGES = (
    ("Overview", "admin.search_overview"),
    ("Analytics", "admin.search_analytics"),
    ("Synonyms", "admin.search_synonyms"),
    ("Search terms", "admin.search_terms"),
    ("Rules and ranking", "admin.search_ranking"),
    ("Test a search", "admin.search_test"),
    ("Settings", "admin.search_settings"),
)
WITHIN = {
    "admin.search_overview": (("Overview", "admin.search_overview"), ("Activity", "admin.search_history")),
    "admin.search_ranking": (
        ("Rules", "admin.search_ranking"),
        ("Ranking of searches", "admin.search_ranking_settings"),
        ("Comparisons", "admin.search_comparisons"),
    ),
    "admin.search_test": (
        ("Test a search", "admin.search_test"),
        ("Golden searches", "admin.search_golden"),
        ("Judgement lists", "admin.judgement_lists"),
    ),
    "admin.search_settings": (
        ("Settings", "admin.search_settings"),
        ("Learning from clicks", "admin.search_learning"),
    ),
}


@bp.app_template_global("search_tabs")
def search_tabs(tab_of: str | None = None) -> list[Tab]:
    return section_tabs(PAGES, _current_page() or tab_of)


@bp.app_template_global("search_pages_within")
def search_pages_within(tab_of: str | None = None) -> list[Tab]:
    """Return the pages that stand within the current page of the menu, itself first; none for a page without."""
    page = _current_page()
    return section_tabs(WITHIN[page]) if page else section_tabs(WITHIN.get(tab_of or "", ()), tab_of)


def _current_page() -> str | None:
    """Return the endpoint of the page of the menu within which the shown page stands by its address."""
    pages = ((page, section_tabs(within)) for page, within in WITHIN.items())
    return next((page for page, tabs in pages if any(tab.is_current for tab in tabs)), None)


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

"""The menu of the Search section, the same on every page of it."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app, request, url_for

from app.blueprints.admin.blueprint import bp

PAGES = (
    ("Overview", "admin.search_overview"),
    ("Analytics", "admin.search_analytics"),
    ("Synonyms", "admin.search_synonyms"),
    ("Search terms", "admin.search_terms"),
    ("Rules and ranking", "admin.search_ranking"),
    ("Test a search", "admin.search_test"),
    ("Golden searches", "admin.search_golden"),
    ("Activity", "admin.search_history"),
    ("Settings", "admin.search_settings"),
)


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    href: str
    is_current: bool


@bp.app_template_global("search_tabs")
def search_tabs() -> list[Tab]:
    """The page of a tab and those below it are its own; below the Overview's address are all others."""
    known = [(label, url_for(endpoint)) for label, endpoint in PAGES if endpoint in current_app.view_functions]
    below = [href for _, href in known if request.path == href or request.path.startswith(f"{href}/")]
    nearest = max(below, key=len, default="")
    return [Tab(label, href, href == nearest) for label, href in known]

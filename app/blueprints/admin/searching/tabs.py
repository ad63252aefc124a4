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
def search_tabs(tab_of: str | None = None) -> list[Tab]:
    """The page of a tab and those below it are its own, but for the Overview, below whose address are all others. A
    page that stands below none says with `tab_of`, an endpoint, whose it is."""
    known = [(label, url_for(endpoint)) for label, endpoint in PAGES if endpoint in current_app.view_functions]
    here = url_for(tab_of) if tab_of else request.path
    overview = url_for("admin.search_overview")
    own = [href for _, href in known if here == href or (href != overview and here.startswith(f"{href}/"))]
    return [Tab(label, href, href in own) for label, href in known]


def tab_of_kind(kind: str | None) -> str | None:
    """Whose page a comparison is: that of what was proposed."""
    tabs = {"synonym": "admin.search_synonyms", "rule": "admin.search_ranking", "terms": "admin.search_terms"}
    return tabs.get(kind or "")

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
    ("Merchandising trees", "admin.trees_list"),
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
    """Return the tabs; current is the one whose page, or a page below its address, is shown. The Overview has no pages
    below it. A page that lies below no tab names its tab's endpoint in `tab_of`."""
    known = [(label, url_for(endpoint)) for label, endpoint in PAGES if endpoint in current_app.view_functions]
    here = url_for(tab_of) if tab_of else request.path
    overview = url_for("admin.search_overview")
    own = [href for _, href in known if here == href or (href != overview and here.startswith(f"{href}/"))]
    return [Tab(label, href, href in own) for label, href in known]


def tab_of_kind(kind: str | None) -> str | None:
    """Return the endpoint of the tab to which a comparison belongs: that of the proposal."""
    tabs = {"synonym": "admin.search_synonyms", "rule": "admin.search_ranking", "terms": "admin.search_terms"}
    return tabs.get(kind or "")

"""The documentation inside the admin, and the link on every page to the part about it."""

from __future__ import annotations

from dataclasses import dataclass

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.shared.problems import NotFound
from app.web.documentation import DOCUMENTS, document
from app.web.permissions import Permission, requires


@dataclass(frozen=True, slots=True)
class Help:
    """A part of a document; `about` completes “Learn more about …”."""

    document: str
    anchor: str
    about: str


# By the beginning of an address; the longest that fits counts.
PARTS = {
    "/admin/": Help("guide", "dashboard", "the dashboard"),
    "/admin/find": Help("guide", "find-anything", "finding anything"),
    "/admin/keys": Help("guide", "find-anything", "finding anything"),
    "/admin/help": Help("guide", "guide-to-the-admin", "the admin"),
    "/admin/catalogue/product": Help("guide", "products", "products"),
    "/admin/catalogue/collection": Help("guide", "collections", "collections"),
    "/admin/catalogue/taxonomy": Help("guide", "taxonomy", "taxonomies and levels"),
    "/admin/catalogue/taxonomy/*": Help("guide", "editing-a-taxonomy", "editing a taxonomy"),
    "/admin/catalogue/taxonomy/*/review": Help("guide", "reviewing-a-change", "reviewing a change"),
    "/admin/catalogue/taxonomy/*/revisions": Help("guide", "reviewing-a-change", "the change log"),
    "/admin/catalogue/taxonomy/*/activation": Help("guide", "activating-a-taxonomy", "activating a taxonomy"),
    "/admin/catalogue/taxonomy/worklist": Help("guide", "worklist", "the worklist"),
    "/admin/merchandising": Help("guide", "merchandising-trees", "merchandising trees"),
    "/admin/merchandising/*/landing": Help("guide", "landing-pages", "landing pages"),
    "/admin/merchandising/category/*/landing": Help("guide", "landing-pages", "landing pages"),
    "/admin/content/page": Help("guide", "pages", "pages"),
    "/admin/orders": Help("guide", "orders", "orders"),
    "/admin/search": Help("guide", "search", "search"),
    "/admin/search/analytics": Help("guide", "analytics", "search analytics"),
    "/admin/search/synonyms": Help("guide", "synonyms", "synonyms"),
    "/admin/search/terms": Help("guide", "search-terms", "search terms"),
    "/admin/search/ranking": Help("guide", "rules-and-ranking", "rules and ranking"),
    "/admin/search/ranking/settings": Help("guide", "ranking-of-searches", "the ranking of searches"),
    "/admin/search/test": Help("guide", "test-a-search", "testing a search"),
    "/admin/search/golden": Help("guide", "golden-searches", "golden searches"),
    "/admin/search/comparisons": Help("guide", "comparisons", "comparing rankings"),
    "/admin/search/judgements": Help("guide", "judgement-lists", "judgement lists"),
    "/admin/search/learning": Help("guide", "learning-from-clicks", "learning from clicks"),
    "/admin/search/activity": Help("guide", "activity-of-search", "undoing changes of search"),
    "/admin/settings/appearance": Help("guide", "appearance", "the appearance of the shop"),
    "/admin/settings/search": Help("guide", "search-settings", "the settings of search"),
    "/admin/seo": Help("guide", "seo", "SEO"),
    "/admin/seo/redirects": Help("guide", "redirects", "redirects"),
    "/admin/user": Help("guide", "users", "users and roles"),
    "/admin/personal-data": Help("personal-data", "looking-handing-over-erasing", "personal data"),
    "/admin/subscriptions": Help("guide", "subscriptions", "subscriptions"),
    "/admin/pos": Help("guide", "mobile-pos", "Mobile POS"),
    "/admin/pos/agents": Help("payments", "agents-locations-and-work-sessions", "agents and their sessions"),
    "/admin/pos/locations": Help("payments", "agents-locations-and-work-sessions", "locations"),
    "/admin/pos/sessions": Help("payments", "the-drawer-and-its-reports", "the drawer and its reports"),
    "/admin/pos/reports": Help("payments", "the-drawer-and-its-reports", "the drawer and its reports"),
    "/admin/pos/journal": Help("journal", "verifying", "the journal"),
    "/admin/pos/transactions": Help("payments", "states", "the states of a payment"),
    "/admin/settings": Help("guide", "settings", "settings"),
    "/admin/settings/emails": Help("guide", "emails", "the emails about orders"),
    "/admin/settings/system": Help("guide", "system", "the System page"),
    "/admin/settings/import-export": Help("bundle", "in-the-admin", "import and export"),
    "/admin/activity": Help("guide", "activity", "the activity log"),
    "/admin/password": Help("guide", "your-account", "your account"),
    "/admin/two-step": Help("guide", "your-account", "two-step sign-in"),
    "/admin/passkeys": Help("guide", "your-account", "passkeys"),
    "/admin/tokens": Help("guide", "your-account", "access tokens"),
}


@bp.get("/help")
@requires(Permission.USE_ADMIN)
def help_index() -> str:
    return render_template("admin/help/index.html", documents=[document(name) for name in DOCUMENTS])


@bp.get("/help/<name>")
@requires(Permission.USE_ADMIN)
def help_document(name: str) -> str:
    if name not in DOCUMENTS:
        raise NotFound("There is no such document.")
    return render_template("admin/help/document.html", document=document(name))


@bp.app_template_global("help_of_page")
def help_of_page() -> Help | None:
    """Return the part about the page that is shown; None for users without the admin's pages. A missing page leads to
    the beginning."""
    if not current_user.is_authenticated:
        return None
    return help_of(request.path) if request.endpoint else PARTS["/admin/help"]


def help_of(path: str) -> Help:
    """Return the part about the page of an address: the longest beginning that fits it."""
    steps = path.split("/")
    fitting = [start for start in PARTS if _begins(steps, start.split("/"))]
    return PARTS[max(fitting, key=lambda start: (len(start.split("/")), "*" not in start, len(start)))]


def _begins(steps: list[str], start: list[str]) -> bool:
    """Whether a path begins with the steps of `start`: `*` is any step, and the last one may be the beginning of a
    step, as product is of products."""
    *firm, last = start
    if len(steps) < len(start) or any(want not in ("*", step) for want, step in zip(firm, steps, strict=False)):
        return False
    return last == "*" or steps[len(firm)].startswith(last)

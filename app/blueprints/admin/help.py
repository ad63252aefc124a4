"""Help: what people want to do, a page of steps for each, the documentation, and search over both; and the help of the
page that is shown, beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.page_tasks import PAGE_TASKS
from app.blueprints.admin.shell import is_open_to_user
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.shared.problems import NotFound
from app.web.documentation import DOCUMENTS, Document, Part, document
from app.web.help_search import HelpIndex
from app.web.help_tasks import Task, TaskSection, picture_size, task_sections, tasks_by_name
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

MOST_PARTS = 8
GUIDE = DOCUMENTS[0]
FOR_DEVELOPERS = {"payments", "stripe", "mcp", "api", "admin-json", "deploy"}


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
    "/admin/settings/delivery": Help("guide", "delivery", "delivery and collection"),
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
    "/admin/settings/sites": Help("guide", "sites", "sites"),
    "/admin/settings/backups": Help("guide", "backups", "backups"),
    "/admin/settings/import-export": Help("bundle", "in-the-admin", "import and export"),
    "/admin/activity": Help("guide", "activity", "the activity log"),
    "/admin/password": Help("guide", "your-account", "your account"),
    "/admin/two-step": Help("guide", "your-account", "two-step sign-in"),
    "/admin/passkeys": Help("guide", "your-account", "passkeys"),
    "/admin/tokens": Help("guide", "your-account", "access tokens"),
}


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A part of a document that has the words of a search."""

    document: Document
    part: Part


@bp.get("/help")
@requires(Permission.USE_ADMIN)
def help_index() -> str:
    """Show the tasks of the user's role and the documents, those that have the words `q`, and first what `page`, the
    address of a page of the admin, is about. Fragments are what was found, and the help beside a page."""
    words = request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "").strip()
    page = request.args.get("page", "")
    about = _row_of(page) if page.startswith("/admin/") else None
    template = "admin/help/index.html"
    if wants_fragment():
        template = "admin/help/_beside.html" if about else "admin/help/_found.html"
    return render_template(
        template,
        words=words,
        found=find_tasks(words),
        parts=_find_parts(words),
        about=PARTS[about] if about else None,
        tasks_of_page=_named_tasks(PAGE_TASKS.get(about, "").split()) if about else [],
        sections=list(_open_sections()),
        documents=[document(name) for name in DOCUMENTS],
    )


@bp.get("/help/task/<name>")
@requires(Permission.USE_ADMIN)
def help_task(name: str) -> str:
    if name not in tasks_by_name():
        raise NotFound("There is no such task.")
    task = tasks_by_name()[name]
    return render_template(
        "admin/help/task.html", task=task, may_open=is_open_to_user(task.page), related=_named_tasks(task.related)
    )


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


@bp.app_template_global("help_picture_size")
def help_picture_size(name: str) -> tuple[int, int]:
    return picture_size(name)


def help_of(path: str) -> Help:
    """Return the part about the page of an address."""
    return PARTS[_row_of(path)]


def _row_of(path: str) -> str:
    """Return the key in the tables of pages: the longest beginning that fits an address."""
    steps = path.split("/")
    fitting = [start for start in PARTS if _begins(steps, start.split("/"))]
    return max(fitting, key=lambda start: (len(start.split("/")), "*" not in start, len(start)))


def _begins(steps: list[str], start: list[str]) -> bool:
    """Whether a path begins with the steps of `start`: `*` is any step, and the last one may be the beginning of a
    step, as product is of products."""
    *firm, last = start
    if len(steps) < len(start) or any(want not in ("*", step) for want, step in zip(firm, steps, strict=False)):
        return False
    return last == "*" or steps[len(firm)].startswith(last)


def find_tasks(words: str) -> list[Task]:
    """Return the tasks of the user's role that have the words, best first; none without words."""
    return _open_tasks(_task_index().find(words))


def _find_parts(words: str) -> list[FoundPart]:
    """Return the first parts of the documents that have the words: of the guide, then of what else is for people who
    run a shop, then of what is for developers, best first in each."""
    found = _part_index().find(words)
    return sorted(found, key=lambda one: (one.document.name != GUIDE, one.document.name in FOR_DEVELOPERS))[:MOST_PARTS]


def _named_tasks(names: Collection[str]) -> list[Task]:
    return _open_tasks(tasks_by_name()[name] for name in names)


def _open_tasks(tasks: Collection[Task] | Iterator[Task]) -> list[Task]:
    """Return those whose page the user's role may open."""
    return [task for task in tasks if is_open_to_user(task.page)]


def _open_sections() -> Iterator[TaskSection]:
    for section in task_sections():
        if tasks := _open_tasks(section.tasks):
            yield TaskSection(section.label, section.icon, tuple(tasks))


@cache
def _task_index() -> HelpIndex[Task]:
    return HelpIndex(
        (task, ((task.title, 8), (task.words, 5), (task.lead, 3), (" ".join(task.steps), 1)))
        for task in tasks_by_name().values()
    )


@cache
def _part_index() -> HelpIndex[FoundPart]:
    """All parts of the documents. Those of the guide, which is the first, are about the admin and count more."""
    return HelpIndex(
        (FoundPart(one, part), ((part.heading, 6 * weight), (one.title, weight), (part.text, weight)))
        for one, weight in ((document(name), 3.0 if name == GUIDE else 1.0) for name in DOCUMENTS)
        for part in one.parts
    )

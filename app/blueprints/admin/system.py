"""Settings → System: the state of jobs, queue, search engine and machine."""

from __future__ import annotations

from datetime import timedelta

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import is_open_to_user
from app.blueprints.callers import is_superadmin
from app.config import Config
from app.domain.shared.problems import NotFound
from app.domain.sites.sites import time_zone_of
from app.domain.system.facts import size_text
from app.domain.system.machine import Surroundings
from app.domain.system.overview import Sources, overview
from app.operations.instance import picture_place
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

PAGES = {  # The pages on which to act on a job or on leased work.
    "reconcile": ("admin.search_overview", "Search"),
    "rebuild": ("admin.search_overview", "Search"),
    "replay": ("admin.search_overview", "Search"),
    "end-comparisons": ("admin.search_comparisons", "Comparisons"),
    "judgement": ("admin.judgement_lists", "Judgement lists"),
    "suggest": ("admin.search_synonyms", "Synonyms"),
    "suggestions": ("admin.search_synonyms", "Synonyms"),
    "sitemaps": ("admin.seo_sitemap", "Sitemap"),
    "sitemap": ("admin.seo_sitemap", "Sitemap"),
    "site-check": ("admin.seo_check", "Site check"),
    "task": ("admin.taxonomies_list", "Taxonomy"),
    "pos-sessions": ("admin.pos_agents", "Agents"),
    "pos-reconcile": ("admin.pos_differences", "Differences"),
    "pos-reconciliation": ("admin.pos_differences", "Differences"),
    "pos-check": ("admin.pos_transactions", "Transactions"),
    "payment-checks": ("admin.pos_transactions", "Transactions"),
    "account-mail": ("admin.users_list", "Users"),
    "journal-mail": ("admin.pos_journal", "Journal"),
    "receipt-mail": ("admin.pos_transactions", "Transactions"),
    "submit-baskets": ("admin.orders_list", "Orders"),
    "picture": ("admin.products_list", "Products"),
    "bundle-run": ("admin.bundles_page", "Import and export"),
    "backup": ("admin.backups_page", "Backups"),
    "check-backup": ("admin.backups_page", "Backups"),
    "purge": ("admin.personal_data", "Personal data"),
}

LABELS = {
    "rebuild": "Rebuilds of the search index",
    "task": "Tasks on many products",
    "suggestions": "Suggestions of synonyms",
    "picture": "Uploads of pictures",
    "replay": "Replays of searches",
    "judgement": "Figures of judgement lists",
    "sitemap": "Sitemaps",
    "payment-checks": "Checks of open payments",
    "pos-reconciliation": "Comparisons with the payment processor",
    "account-mail": "Emails to users",
    "journal-mail": "Mails of the journal",
    "receipt-mail": "Receipts by email",
    "bundle-run": "Imports and exports",
    "backup": "Backups",
    "site-check": "Site checks",
}

bp.add_app_template_filter(size_text, "size_text")


@bp.get("/settings/system")
@requires(Permission.SEE_MACHINE)
def system() -> str:
    """Show the page; its fragment is the contents, which reload themselves."""
    site_id = current_user.site_id
    template = "admin/system/_contents.html" if wants_fragment() else "admin/system/page.html"
    shown = overview(_sources(), site_id, is_superadmin())
    return render_template(template, shown=shown, time_zone=time_zone_of(site_id))


@bp.post("/settings/system/run")
@requires(Permission.SEE_MACHINE)
def system_run() -> Response:
    """Have a worker run a job that only looks. Raises NotFound for any other."""
    name = request.form.get("job", "")
    if name not in {facts.name for facts in ports.scheduled_jobs() if facts.only_looks}:
        raise NotFound("There is no such job to run from here.")
    if ports.queue().enqueue("scheduled:look", name, machine=ports.machine_id()):
        flash("A worker runs it now; its line says when it is done.", "good")
    else:
        flash(f"The queue does not answer. On the server, run: flask --app wsgi jobs run {name}", "warn")
    return redirect(url_for("admin.system"))


@bp.app_template_filter("page_of_work")
def page_of_work(name: str) -> dict[str, str] | None:
    """Return address and label of the page that helps with a job or a kind of work, where the user may open it."""
    page = PAGES.get(name)
    return {"href": url_for(page[0]), "label": page[1]} if page and is_open_to_user(page[0]) else None


@bp.app_template_filter("label_of_work")
def label_of_work(kind: str) -> str:
    return LABELS.get(kind, kind)


@bp.app_template_filter("duration")
def duration(took: timedelta) -> str:
    seconds = took.total_seconds()
    if seconds < 1:
        return "under 1 s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _sources() -> Sources:
    config: Config = current_app.config["SHOP"]
    surroundings = Surroundings(
        config.data_folders,
        config.alert_free_disk_mb,
        config.backup_dir is not None,
        config.alert_certificate_host is not None,
        picture_place(config),
    )
    queue, kinds = ports.queue().overview, ports.work_kinds()
    engine, model = ports.search_engine(), ports.sentence_model()
    return Sources(ports.clock(), queue, engine, ports.scheduled_jobs(), kinds, surroundings, model, ports.machine_id())

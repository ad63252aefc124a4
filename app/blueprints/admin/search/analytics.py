"""Analytics: what shoppers search for, do not find and do next, and the effect of a change on its searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flask import Response, render_template, request
from flask_login import current_user

from app import ports
from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.domain.relevance import effect
from app.domain.relevance.no_results import AnswerNow, answers_now
from app.domain.search_statistics import reports
from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.counting.days import PERIODS
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.search_statistics.measures import (
    NONE,
    ListName,
    ListRequest,
    Period,
    days_of,
    effect_rows,
    percent,
    share,
)
from app.domain.search_statistics.reports import TrackingStatus, WordRow
from app.domain.shared.money import decimal_text
from app.domain.shared.problems import Conflict
from app.domain.sites.sites import currency_of
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

LISTS = f"any({', '.join(repr(name.value) for name in ListName)})"
COUNTS = ("Searches", "Found nothing")
CLICK_COUNTS = ("With clicks recorded", "Clicked", "Added to basket", "Ordered")
CLICK_SHARES = ("Clicked share", "Added to basket share", "Ordered share")
EFFECT = "/search/effect"
LARGEST = "max=2147483647"

bp.add_app_template_filter(percent, "percent")
bp.add_app_template_filter(share, "share")


@bp.get("/search/analytics")
@requires(Permission.MANAGE_SEARCH)
def search_analytics() -> str:
    report = reports.report(ports.clock(), current_user.site_id, days_of(request.args))
    answers = _answers_now(report.lists[ListName.NOTHING])
    return render_template("admin/search/analytics/page.html", report=report, periods=PERIODS, answers=answers)


@bp.get(f"/search/analytics/<{LISTS}:list_name>")
@requires(Permission.MANAGE_SEARCH)
def search_analytics_list(list_name: str) -> str:
    """Show a whole list, page by page; the fragment is its table."""
    listing = ListRequest.read(ListName(list_name), request.args)
    period = reports.period(ports.clock(), current_user.site_id, listing.days)
    found = reports.page_of(current_user.site_id, period, listing)
    tracking = reports.tracking_status(current_user.site_id)
    template = "admin/search/analytics/_results.html" if wants_fragment() else "admin/search/analytics/list.html"
    answers = _answers_now(found.items) if listing.name is ListName.NOTHING else {}
    return render_template(
        template, listing=listing, found=found, tracking=tracking, period=period, periods=PERIODS, answers=answers
    )


def _answers_now(rows: Sequence[WordRow]) -> dict[str, AnswerNow]:
    words = [row.word for row in rows]
    return answers_now(ports.clock(), ports.search_engine(), current_user.site_id, words)


@bp.get(f"/search/analytics/<{LISTS}:list_name>.csv")
@requires(Permission.MANAGE_SEARCH)
def search_analytics_table(list_name: str) -> Response:
    """The whole list for a spreadsheet, filtered and sorted as requested, with the columns that the page has. Raises
    Conflict for a list about clicks while they are not recorded."""
    site_id, listing = current_user.site_id, ListRequest.read(ListName(list_name), request.args)
    period, tracking = reports.period(ports.clock(), site_id, listing.days), reports.tracking_status(site_id)
    if not tracking.shows(listing.name):
        raise Conflict("Clicks are not recorded. Switch on “Record Search Clicks and Sales” in Search settings.")
    return _download(_word_lines(site_id, period, listing, tracking), f"searches-{list_name}", period)


@bp.get("/search/analytics/days.csv")
@requires(Permission.MANAGE_SEARCH)
def search_analytics_days() -> Response:
    """Return the figures of each day of the period for a spreadsheet."""
    site_id = current_user.site_id
    period = reports.period(ports.clock(), site_id, days_of(request.args))
    return _download(_day_lines(site_id, period, reports.tracking_status(site_id)), "searches-by-day", period)


def _download(lines: Iterator[Sequence[str]], name: str, period: Period) -> Response:
    return spreadsheet.download(lines, f"{name}-{period.days}-days-{period.today.isoformat()}.csv")


def _word_lines(
    site_id: int, period: Period, listing: ListRequest, tracking: TrackingStatus
) -> Iterator[Sequence[str]]:
    yield "Search", *_counts_header(tracking), "Results of the latest", "Latest search"
    for row in reports.every_row(site_id, period, listing):
        finds = NONE if row.finds is None else str(row.finds)
        yield row.word, *_count_cells(row.sums, tracking), finds, row.last_day.isoformat()


def _day_lines(site_id: int, period: Period, tracking: TrackingStatus) -> Iterator[Sequence[str]]:
    yield "Day", *_counts_header(tracking)
    for day, sums in reports.every_day(site_id, period):
        yield day.isoformat(), *_count_cells(sums, tracking)


def _counts_header(tracking: TrackingStatus) -> tuple[str, ...]:
    if not tracking.clicks:
        return COUNTS
    return *COUNTS, *CLICK_COUNTS, f"Revenue ({tracking.currency.upper()})", *CLICK_SHARES


def _count_cells(sums: Sums, tracking: TrackingStatus) -> tuple[str, ...]:
    """Return the cells below the header: without clicks while they are not recorded."""
    searches = str(sums.searches), str(sums.found_nothing)
    if not tracking.clicks:
        return searches
    counted = (sums.followed, sums.clicked, sums.added_to_basket, sums.ordered)
    shares = (percent(share(sums, name)) for name in ("clicked", "added_to_basket", "ordered"))
    return *searches, *map(str, counted), decimal_text(sums.revenue, tracking.currency), *shares


@bp.get(f"{EFFECT}/synonym/<int({LARGEST}):synonym_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_synonym(synonym_id: int) -> str:
    found = effect.effect_of_synonym(ports.clock(), current_user.site_id, synonym_id)
    return _show_effects([found], f"Synonym {found.subject}", "admin.search_synonyms")


@bp.get(f"{EFFECT}/rule/<int({LARGEST}):rule_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_rule(rule_id: int) -> str:
    found = effect.effect_of_rule(ports.clock(), current_user.site_id, rule_id)
    return _show_effects([found], f"Rule for “{found.subject}”", "admin.search_ranking")


@bp.get(f"{EFFECT}/learning")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_learning() -> str:
    found = effect.effect_of_learning(ports.clock(), current_user.site_id)
    return _show_effects([found], found.subject, "admin.search_settings", back="admin.search_learning")


@bp.get(f"{EFFECT}/terms/<int({LARGEST}):product_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_terms(product_id: int) -> str:
    found = effect.effects_of_terms(ports.clock(), current_user.site_id, product_id)
    return _show_effects(found.terms, f"Search terms of {found.product_name}", "admin.search_terms", named=True)


def _show_effects(
    effects: Sequence[effect.Effect], subject: str, tab_of: str, named: bool = False, back: str = ""
) -> str:
    return render_template(
        "admin/search/analytics/_effects.html" if wants_fragment() else "admin/search/analytics/effect.html",
        days_kept=KEEP_WORDS.days,
        effects=effects,
        subject=subject,
        tab_of=tab_of,
        back=back or tab_of,
        named=named,
        rows=effect_rows,
        currency=currency_of(current_user.site_id),
    )

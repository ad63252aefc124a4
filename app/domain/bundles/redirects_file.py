"""redirects.jsonl, in and out: addresses without a page, and where they lead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from app.domain.bundles.import_task import NO_SITE, ImportTask
from app.domain.bundles.reading import FileRow, read_rows
from app.domain.merchandising.shop import read_shop
from app.domain.seo.landing.pages import LandingPages
from app.domain.seo.redirects.live_pages import live_among
from app.domain.seo.redirects.redirect_table import SentRedirect, plan_import, store_plan
from app.domain.seo.redirects.rules import Reach, Source
from app.domain.seo.redirects.stored_redirects import every_redirect, lock
from app.domain.shared.csv_tables import RowOutcome
from app.domain.shared.paging import batched
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Choice, Record, Text

FILE = "redirects.jsonl"
REDIRECTS = "redirects"
OUTCOMES = {RowOutcome.ADDED: "added", RowOutcome.CHANGED: "changed", RowOutcome.SAME: "unchanged"}
REDIRECT = Record(
    **{"from": Text(required=True), "to": Text(required=True), "reach": Choice(tuple(each.value for each in Reach))}
)


def redirect_rows(site_id: int) -> Iterator[dict[str, Any]]:
    """Yield the redirects of a site; the reach stands only where it is not the page alone."""
    for old, place in every_redirect(site_id):
        reach = {} if place.reach is Reach.PAGE else {"reach": place.reach.value}
        yield {"from": old, "to": place.address, **reach}


def import_redirects(task: ImportTask) -> None:
    """Import the redirects, after everything that has an address: where a page is, none is taken."""
    file = task.bundle.find(FILE)
    if file is None:
        return
    task.report.of(REDIRECTS)
    for rows in batched(read_rows(task.bundle, file)):
        task.step("Redirects", len(rows))
        sent = [one for row in rows if (one := _read_row(task, file, row)) is not None]
        with task.writing():
            _import_batch(task, file, sent)


def _read_row(task: ImportTask, file: str, row: FileRow) -> SentRedirect | None:
    try:
        fields = REDIRECT.load(row.fields)
    except Invalid as refused:
        task.refuse_line(REDIRECTS, file, row.line, refused.problems)
        return None
    return SentRedirect(row.line, fields["from"], fields["to"], Reach(fields.get("reach", Reach.PAGE)))


def _import_batch(task: ImportTask, file: str, sent: Sequence[SentRedirect]) -> None:
    if not task.dry_run:
        lock(task.site_id)
    report = plan_import(task.site_id, lambda paths: _live_among(task, paths), sent)
    for line in report.lines:
        if line.outcome is RowOutcome.REFUSED:
            task.refuse_line(REDIRECTS, file, line.number, [Problem("invalid_redirect", line.reason)])
        else:
            task.report.of(REDIRECTS).note(OUTCOMES[line.outcome], line.made.old if line.made else line.text)
    if not task.dry_run:
        store_plan(task.author, report, Source.BUNDLE)


def _live_among(task: ImportTask, paths: Iterable[str]) -> set[str]:
    """Return those of the paths that have a page. Landing pages are not looked for: search may lag behind the
    import."""
    if task.site_id == NO_SITE:
        return set()
    return live_among(read_shop(task.site_id), lambda _node: LandingPages(), paths)

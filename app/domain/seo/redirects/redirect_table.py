"""Redirects as a table, and many at once from one: a preview of what each line does, then its application. Redirects
that are added together may lead through each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.domain.merchandising.shop import Shop
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.seo.redirects.live_pages import live_among
from app.domain.seo.redirects.rules import (
    FROM,
    MOST_REDIRECTS,
    Destination,
    Reach,
    Source,
    ends,
    leads_back,
    normal_path,
    old_path_problems,
    read_destination,
)
from app.domain.seo.redirects.stored_redirects import (
    count_of,
    every_redirect,
    hosts_of,
    lock,
    redirects_ahead,
    redirects_around,
    store_moves,
)
from app.domain.shared.author import Author
from app.domain.shared.csv_tables import ImportLine, ImportReport, RowOutcome, check_cells, read_named, refused
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites import activity

COLUMNS = ("from", "to")
LiveOf = Callable[[Iterable[str]], set[str]]
MOST_LINES = 5_000  # Of up to 100 characters each a table takes as many, and so does a form.


@dataclass(frozen=True, slots=True)
class Wanted:
    """A redirect that a line makes; it reads as people write it."""

    old: str
    to: Destination

    def __str__(self) -> str:
        return f"{self.old} → {self.to.address}"


@dataclass(frozen=True, slots=True)
class SentRedirect:
    """A redirect as a line of a file has it. Without `reach` a stored one keeps its own."""

    number: int
    old: str
    new: str
    reach: Reach | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.old},{self.new}"


def table_rows(site_id: int) -> Iterator[Sequence[str]]:
    """Yield the lines of a table with all redirects of a site, its first with the names of the columns."""
    yield COLUMNS
    yield from ((old, place.address) for old, place in every_redirect(site_id))


def preview(shop: Shop, pages_of: LandingPagesOf, text: str) -> ImportReport[Wanted]:
    """Preview an import; nothing is written. Raises Invalid."""
    return plan_import(shop.site_id, partial(live_among, shop, pages_of), _read_table(text))


def apply(author: Author, shop: Shop, pages_of: LandingPagesOf, text: str, digest: str) -> ImportReport[Wanted]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises Invalid, and
    Conflict where redirects or pages have changed since."""
    lock(author.site_id)
    report = preview(shop, pages_of, text)
    if report.digest != digest:
        raise Conflict("Redirects or pages changed since you looked. Look at what the file does now, then import it.")
    store_plan(author, report, Source.TABLE)
    if report.changes:
        counts = {outcome.value: report.count(outcome) for outcome in RowOutcome}
        summary = f"Imported redirects: {counts['added']:,} added, {counts['changed']:,} changed"
        activity.record(author, "redirect.import", ("redirect", ""), summary, after=counts)
    return report


def store_plan(author: Author, report: ImportReport[Wanted], source: Source) -> None:
    """Store the redirects that the lines of a report add or change."""
    kept = (RowOutcome.ADDED, RowOutcome.CHANGED)
    made = {line.made.old: line.made.to for line in report.lines if line.made and line.outcome in kept}
    store_moves(author.site_id, made, source, author.name, author.now())


def plan_import(site_id: int, live_of: LiveOf, sent: Sequence[SentRedirect]) -> ImportReport[Wanted]:
    """Return the report of what each line does to the redirects of a site. `live_of` returns those of some paths that
    have a page."""
    hosts = hosts_of(site_id)
    read = [_read_line(line, hosts) for line in sent]
    wanted: dict[str, Destination] = {}
    first: dict[str, int] = {}
    for line, old, place, problems in read:
        if not problems and old not in wanted:
            wanted[old], first[old] = place, line.number
    ahead, reached = redirects_ahead(site_id, wanted)
    live = live_of({*wanted, *reached})
    stored = redirects_around(site_id, wanted)
    without_reach = {line.number for line in sent if line.reach is None}
    for old in wanted.keys() & stored.keys():
        if first[old] in without_reach:
            wanted[old] = replace(wanted[old], reach=stored[old].reach)
    found = ends({old: place for old, place in wanted.items() if old not in live}, {**stored, **ahead}, live)
    room = MOST_REDIRECTS - count_of(site_id)
    lines: list[ImportLine[Wanted]] = []
    for line, old, place, problems in read:
        if not problems and first[old] != line.number:
            message = f"Line {first[old]} redirects {old} already."
            problems = [Problem("duplicate_redirect", message, FROM)]
        done = _plan_line(line, old, place, [*problems, *_live_problems(old, live)], found, stored, room)
        room -= done.outcome is RowOutcome.ADDED
        lines.append(done)
    return ImportReport(lines)


def _live_problems(old: str, live: set[str]) -> list[Problem]:
    message = f"{old} has a page, which shoppers see instead of any redirect."
    return [Problem("page_exists", message, FROM)] if old in live else []


def _plan_line(
    line: SentRedirect,
    old: str,
    place: Destination,
    problems: list[Problem],
    found: Mapping[str, Destination | None],
    stored: Mapping[str, Destination],
    room: int,
) -> ImportLine[Wanted]:
    end = found.get(old)
    if not problems and end is None:
        problems = [leads_back(old, place)]
    if not problems and old not in stored and room < 1:
        problems = [Problem("too_many_redirects", f"A shop has at most {MOST_REDIRECTS:,} redirects.", FROM)]
    if problems or end is None:
        return refused(line.number, line.text, Invalid(problems))
    before = Wanted(old, stored[old]) if old in stored else None
    outcome = RowOutcome.ADDED if before is None else RowOutcome.CHANGED
    outcome = RowOutcome.SAME if before is not None and before.to == end else outcome
    replaced = before if outcome is RowOutcome.CHANGED else None
    return ImportLine(line.number, line.text, outcome, Wanted(old, end), replaced)


def _read_line(line: SentRedirect, hosts: set[str]) -> tuple[SentRedirect, str, Destination, list[Problem]]:
    typed = line.old.strip()
    old = normal_path(typed) if typed.startswith("/") else typed
    place, problems = read_destination(line.new, hosts, line.reach or Reach.PAGE)
    return line, old, place, [*line.problems, *old_path_problems(old), *problems]


def _read_table(text: str) -> list[SentRedirect]:
    """Read a table whose first line names its columns. Raises Invalid for what is no table."""
    rows = read_named(text, {name: name for name in COLUMNS}, COLUMNS, "redirects", MOST_LINES)
    return [_read_cells(number, cells) for number, cells in rows]


def _read_cells(number: int, cells: Mapping[str, str]) -> SentRedirect:
    try:
        check_cells(cells)
    except Invalid as invalid:
        return SentRedirect(number, cells.get("from", ""), cells.get("to", ""), problems=invalid.problems)
    return SentRedirect(number, cells.get("from", ""), cells.get("to", ""))

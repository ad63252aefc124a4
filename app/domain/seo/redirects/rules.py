"""What a redirect is, what its addresses may be, and how redirects change when addresses move: none leads to another
one, and none leads back. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from app.domain.search.serving.rules import LONGEST_PATH, safe_redirect
from app.domain.shared.addresses import url_problems
from app.domain.shared.problems import Problem

MOST_REDIRECTS = 100_000
LONGEST_QUERY = 500
FROM, TO = "#/from", "#/to"
# First steps of addresses that always have a page or a program behind them.
RESERVED = frozenset(
    (
        *("admin", "v1", "till", "mcp", "static", "media", "picture", "metrics", "healthz", "readyz"),
        *("basket", "checkout", "search", "robots.txt", "sitemap.xml", "theme-preview"),
        *("order", "orders", "r", "recently-viewed"),
    )
)


class Reach(StrEnum):
    """What a redirect is for. PAGE: its old address alone. BELOW: also the pages below, each to the page of the same
    name below the new address. TOGETHER: the pages below, all to the new address."""

    PAGE = "page"
    BELOW = "below"
    TOGETHER = "together"


class Source(StrEnum):
    """What left a redirect behind."""

    PRODUCT = "product"
    CATEGORY = "category"
    PAGE = "page"
    COLLECTION = "collection"
    LANDING = "landing"
    PERSON = "person"
    TABLE = "table"
    BUNDLE = "bundle"
    AGENT = "agent"


SOURCE_LABELS: Mapping[Source, str] = {
    Source.PRODUCT: "Product",
    Source.CATEGORY: "Category",
    Source.PAGE: "Page",
    Source.COLLECTION: "Collection",
    Source.LANDING: "Landing pages",
    Source.PERSON: "By hand",
    Source.TABLE: "CSV file",
    Source.BUNDLE: "Bundle",
    Source.AGENT: "AI agent",
}


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a redirect leads: a decoded path of the site with parameters, or an absolute address elsewhere as
    `path`."""

    path: str
    query: str = ""
    reach: Reach = Reach.PAGE

    @property
    def address(self) -> str:
        """The address as people write it, which `read_destination` reads as this destination again."""
        path = self.path
        if not self.is_elsewhere:
            for sign, written in (("%", "%25"), ("?", "%3F"), ("#", "%23"), (" ", "%20")):
                path = path.replace(sign, written)
        return f"{path}?{self.query}" if self.query else path

    @property
    def is_elsewhere(self) -> bool:
        return not self.path.startswith("/")


Redirects = Mapping[str, Destination]  # By the old path.


def normal_path(path: str) -> str:
    """Return the form in which old addresses are looked up: decoded, in lower case, without a slash at the end."""
    return "/" + unquote(path).strip("/").lower()


def old_path_problems(path: str) -> list[Problem]:
    """Return what keeps a path from being an old address; it must be in its normal form."""
    if len(path) > LONGEST_PATH:
        return [Problem("too_long", f"The old address is longer than {LONGEST_PATH} characters.", FROM)]
    if "?" in path or "#" in path:
        return [Problem("invalid_path", "The old address is a path without ? and #: parameters are kept.", FROM)]
    if safe_redirect(path) is None:
        message = "The old address must be a path of this shop, such as /tents/old-name."
        return [Problem("invalid_path", message, FROM)]
    if path == "/" or path.split("/")[1] in RESERVED:
        return [Problem("reserved_path", f"{path} always has a page of its own, so it cannot be redirected.", FROM)]
    return []


def read_destination(text: str, hosts: Collection[str], reach: Reach = Reach.PAGE) -> tuple[Destination, list[Problem]]:
    """Return the destination that was typed, and its problems. An address on one of the shop's hosts counts as its
    path."""
    path = _path_on(text.strip(), hosts)
    if not path:
        return Destination("/"), [Problem("required", "The new address is missing.", TO)]
    if not path.startswith("/"):
        return Destination(path, reach=reach), url_problems(path, "The new address", TO)
    plain, _, query = path.partition("?")
    if "#" in path or safe_redirect(path) is None:
        message = "The new address must be a path of this shop without #, such as /c/tents, or begin with https://."
        return Destination("/"), [Problem("invalid_path", message, TO)]
    return Destination(_new_path(plain), query, reach), []


def _new_path(path: str) -> str:
    """Return a new path as it is stored. Files and programs of the shop keep their capital letters: no page moves
    there, and a file in lower case is another one."""
    decoded = "/" + unquote(path).strip("/")
    return decoded if decoded.split("/")[1] in RESERVED else normal_path(path)


def leads_back(old: str, place: Destination) -> Problem:
    """Return the problem of a redirect that leads back to its own address."""
    message = f"{place.path} leads back to {old}. Delete that redirect first."
    if place.path == old:
        message = "The old and the new address are the same."
    return Problem("redirect_loop", message, TO)


def _path_on(text: str, hosts: Collection[str]) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        return text
    if parts.scheme not in ("http", "https") or parts.netloc.lower() not in hosts or parts.fragment:
        return text
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def with_moves(stored: Redirects, moves: Redirects) -> dict[str, Destination]:
    """Return the redirects after pages moved, all at once, from the keys of `moves` to their destinations, at which
    there are pages now: what led to an old address leads to the new one, and no new address is redirected. The
    redirects of a category's landing pages move along with it."""
    live = {place.path for place in moves.values()}
    followed = {old: _moved(place, moves) for old, place in stored.items()}
    along = {
        place.path + old[len(above) :]: followed[old]
        for old, kept in stored.items()
        if kept.reach is not Reach.PAGE and (above := old.rpartition("/")[0]) in moves
        for place in [moves[above]]
        if place.reach is Reach.BELOW
    }
    wanted = {**followed, **along, **moves}
    return {old: place for old, place in wanted.items() if old not in live and old != place.path}


def _moved(place: Destination, moves: Redirects) -> Destination:
    moved, above = moves.get(place.path), place.path.rpartition("/")[0]
    if moved is not None:
        return replace(moved, query=joined(moved.query, place.query), reach=place.reach)
    if place.reach is Reach.BELOW and above in moves and moves[above].reach is Reach.BELOW:
        return replace(place, path=moves[above].path + place.path[len(above) :])
    return place


def ends(wanted: Redirects, stored: Redirects, live: Collection[str]) -> dict[str, Destination | None]:
    """Return where new redirects lead in the end, through each other and through those that are stored, also those for
    the pages below an address; None for one that leads back to an address on its way. What is `live` has a page, at
    which every way ends."""
    taken = dict(wanted)
    while True:
        known = {**stored, **taken}
        found = {old: _end_of(old, place, known, live) for old, place in taken.items()}
        taken = {old: place for old, place in taken.items() if found[old] is not None}
        if len(taken) == len(found):  # Else what is stored stays at the addresses of those that lead back.
            return {old: found.get(old) for old in wanted}


def _end_of(old: str, place: Destination, known: Redirects, live: Collection[str]) -> Destination | None:
    way = {old}
    end = place
    while end.path not in way:
        step = None if end.path in live else step_from(end.path, known)
        if step is None:
            return end
        way.add(end.path)
        end = replace(step.to, query=joined(step.to.query, end.query), reach=place.reach)
    return None


def joined(first: str, second: str) -> str:
    """Return the parameters of two addresses behind each other."""
    return "&".join(filter(None, (first, second)))[:LONGEST_QUERY]


def looked_up(path: str) -> list[str]:
    """Return the old paths whose redirects may be for a path: itself, and those one and two steps above, as of a
    landing page its rule and its category."""
    steps = path.strip("/").split("/")
    above = ["/" + "/".join(steps[:-end]) for end in (1, 2) if len(steps) > end]
    return [path, *above]


@dataclass(frozen=True, slots=True)
class Step:
    """Where a redirect sends the visitors of one path. `is_sure`: the redirect is for this very path; else the page
    must exist for the step to count."""

    old_path: str
    to: Destination
    is_sure: bool


def step_from(path: str, stored: Redirects) -> Step | None:
    """Return where the nearest of the redirects sends the visitors of a path; None where none is for it."""
    for old in looked_up(path):
        place = stored.get(old)
        if place is None:
            continue
        if old == path:
            return Step(old, place, True)
        if place.reach is Reach.TOGETHER and path.rpartition("/")[0] == old:
            return Step(old, place, False)
        if place.reach is Reach.BELOW and not place.is_elsewhere:
            return Step(old, replace(place, path=place.path + path[len(old) :]), False)
    return None


def segments_moved(
    folder: str, before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]], *, together: bool
) -> Iterator[tuple[str, Destination]]:
    """Yield the redirects that the changed landing rules of the category at `folder` leave behind. `before` and `after`
    are (facet, segment). With `together` the pages of rules that are gone lead to the category."""
    now, taken = dict(after), {segment for _, segment in after}
    for facet, segment in before:
        if segment in taken:
            continue
        if facet in now:
            yield f"{folder}/{segment}", Destination(f"{folder}/{now[facet]}", reach=Reach.BELOW)
        elif together:
            yield f"{folder}/{segment}", Destination(folder, reach=Reach.TOGETHER)

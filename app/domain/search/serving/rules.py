"""A search rule as a value, with the declaration of its fields, by which forms, tables, bundles, proposals, history,
tools and what is served read and write it; and the check of the paths to which a rule redirects a search. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit
from zoneinfo import ZoneInfo

from app.domain.search.serving.product_groups import GroupsField, ProductGroup
from app.domain.search.serving.term_index import Match
from app.domain.search.text import request_words
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import (
    BlockField,
    Cells,
    ChoiceField,
    DeclaredRecord,
    ListField,
    MomentField,
    PathField,
    RecordField,
    SwitchField,
    TextField,
    TypedForm,
    join_texts,
    split_texts,
)
from app.domain.shared.schema import Many, One, Record, Strict, Text, Whole
from app.domain.shared.text import UNPRINTABLE, one_line

MOST_READ = 1_000  # Pins; a list that is longer is refused for its length alone.
LONGEST_TERM = 100  # As for the searches that are counted.
LONGEST_NOTE = 2_000
LONGEST_PATH = 500
SEARCH_PATH = "/search"
USUAL_PRIORITY, LAST_PRIORITY = 100, 1_000
MATCH_LABELS = {
    Match.EXACT: "searches of exactly the term",
    Match.STARTS_WITH: "searches that start with the term",
    Match.CONTAINS: "searches that contain the term",
    Match.ANY: "any search that names one of its levels or categories",
}
MATCH_HELP = (
    "exact: the search is the term; startsWith, contains: it begins with the words of the term or has them side by "
    "side; any: it names one of the levels or categories, and the term is only the rule's name."
)
GROUPS_HELP = (
    "Each group has any of manufacturers, levels (ids), attributes (id with values, or with from and to for a number), "
    "priceFrom and priceTo in minor units, stock (in or out), newDays and onSale, and holds the products that meet all "
    "of them at the time of the search."
)
TIME = "A time with its zone, such as “2026-11-20T21:04:05Z”."
_SLASHES = re.compile(r"[/\\]+")


def normalized_term(text: str) -> str:
    """Return the normal form of a term; two searches are the same where this is: NFKC, case folded, trimmed, spaces
    collapsed (contracts: Rules). May be empty."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


@dataclass(frozen=True, slots=True)
class TermField(TextField):
    """The search of a rule; its normal form, by which it is looked up, has a column of its own."""

    def as_columns(self, value: str) -> dict[str, Any]:
        return {self.name: value, "normalized_term": normalized_term(value)}


@dataclass(frozen=True, slots=True)
class PinnedSku:
    """`position` is 1-based."""

    sku: str
    position: int


@dataclass(frozen=True, slots=True)
class PinsField(RecordField):
    """Pins: objects in JSON and in the database, `position:SKU` in tables."""

    def schema(self) -> Strict:
        return Many(Record(sku=Text(required=True), position=Whole(required=True)), MOST_READ)

    def of_json(self, raw: Iterable[Mapping[str, Any]]) -> tuple[PinnedSku, ...]:
        return tuple(PinnedSku(pin["sku"], pin["position"]) for pin in raw)

    def as_json(self, value: Iterable[PinnedSku]) -> list[dict[str, Any]]:
        return [{"sku": pin.sku, "position": pin.position} for pin in value]

    def of_row(self, row: object) -> tuple[PinnedSku, ...]:
        return self.of_json(getattr(row, self.name))

    def as_columns(self, value: Iterable[PinnedSku]) -> dict[str, Any]:
        return {self.name: self.as_json(value)}

    def tidy(self, value: Iterable[PinnedSku]) -> tuple[PinnedSku, ...]:
        return tuple(PinnedSku(pin.sku.strip(), pin.position) for pin in value)

    def searched(self, value: Iterable[PinnedSku]) -> Iterable[str | None]:
        return [pin.sku for pin in value]

    def describe(self, raw: Iterable[Mapping[str, Any]] | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: [f"{pin['sku']} at {pin['position']}" for pin in raw or ()]}

    def cells(self, raw: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        return (join_texts(f"{pin['position']}:{pin['sku']}" for pin in raw),)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key in cells:
            sent[self.key] = [self._read_pin(text) for text in split_texts(cells[self.key])]

    @staticmethod
    def _read_pin(text: str) -> dict[str, Any]:
        position, colon, sku = text.partition(":")
        if not colon or not position.strip().isdecimal() or len(position) > 6:
            message = f"“{text[:64]}” is no pin: write its place and its SKU, as in 1:COAT-2."
            raise Invalid.one("invalid_position", message)
        return {"sku": sku.strip(), "position": int(position)}


@dataclass(frozen=True, slots=True)
class Banner:
    text: str
    link_url: str | None = None

    def as_json(self) -> dict[str, str | None]:
        return {"text": self.text, "linkUrl": self.link_url}


@dataclass(frozen=True, slots=True)
class BannerField(RecordField):
    """A banner: an object in JSON, None without one; its text and its link in tables, forms and the database."""

    is_typed: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        return "bannerText", "bannerLinkUrl"

    def schema(self) -> Strict:
        return One(Record(text=Text(required=True), linkUrl=Text(allow_none=True)), allow_none=True)

    def of_json(self, raw: Mapping[str, Any]) -> Banner | None:
        return Banner(raw["text"], raw.get("linkUrl")) if raw else None

    def as_json(self, value: Banner | None) -> dict[str, Any] | None:
        return value.as_json() if value else None

    def as_columns(self, value: Banner | None) -> dict[str, Any]:
        return {"banner_text": value and value.text, "banner_link_url": value and value.link_url}

    def tidy(self, value: Banner | None) -> Banner | None:
        """An empty banner is none; one with only a link is kept, to be refused."""
        banner = value and Banner(one_line(value.text), (value.link_url or "").strip() or None)
        return banner if banner and (banner.text or banner.link_url) else None

    def searched(self, value: Banner | None) -> Iterable[str | None]:
        return (value.text,) if value else ()

    def describe(self, raw: Mapping[str, Any] | None, zone: ZoneInfo) -> dict[str, Any]:
        banner = raw or {}
        return {"text": banner.get("text"), "link": banner.get("linkUrl")}

    def cells(self, raw: Mapping[str, Any] | None) -> tuple[str, ...]:
        banner = raw or {}
        return banner.get("text") or "", banner.get("linkUrl") or ""

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        banner = sent.get(self.key) or {}
        text = one_line(cells.get("bannerText", banner.get("text") or ""))
        link = one_line(cells.get("bannerLinkUrl", banner.get("linkUrl") or ""))
        sent[self.key] = {"text": text, "linkUrl": link or None} if text or link else None

    def as_typed(self, value: Banner | None, zone: ZoneInfo) -> tuple[str, ...]:
        return self.cells(self.as_json(value))

    def of_typed(self, form: TypedForm) -> Banner:
        return Banner(form.texts["bannerText"], form.texts["bannerLinkUrl"])


@dataclass(frozen=True, slots=True)
class MatchField(ChoiceField):
    """How a search meets the term; an empty cell or text is the usual way."""

    is_typed: ClassVar[bool] = True

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key in cells:
            sent[self.key] = one_line(cells[self.key]) or Match.EXACT.value

    def of_typed(self, form: TypedForm) -> Match:
        text = form.texts[self.key].strip()
        return Match(text) if text in set(Match) else Match.EXACT


@dataclass(frozen=True, slots=True)
class TypedListField(ListField):
    """A list that a form has as one text, with semicolons between."""

    is_typed: ClassVar[bool] = True

    def tidy(self, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for text in map(one_line, value) if text))

    def as_typed(self, value: tuple[str, ...], zone: ZoneInfo) -> tuple[str, ...]:
        return (join_texts(value),) if value else ("",)

    def of_typed(self, form: TypedForm) -> tuple[str, ...]:
        return tuple(split_texts(form.texts[self.key]))


@dataclass(frozen=True, slots=True)
class CategoriesField(ListField):
    """Categories by the paths of their pages, of which `/c/` may be left out."""

    def tidy(self, value: tuple[str, ...]) -> tuple[str, ...]:
        paths = (one_line(path).removeprefix("/c/").strip("/") for path in value)
        return tuple(dict.fromkeys(filter(None, paths)))


@dataclass(frozen=True, slots=True)
class PriorityField(RecordField):
    json_type: ClassVar[Any] = int
    is_typed: ClassVar[bool] = True

    def schema(self) -> Strict:
        return Whole()

    def problems(self, value: int) -> list[Problem]:
        message = f"The priority must be a whole number from 1 to {LAST_PRIORITY}."
        return [] if 1 <= value <= LAST_PRIORITY else [Problem("invalid_priority", message, f"#/{self.key}")]

    def cells(self, raw: int) -> tuple[str, ...]:
        return (str(raw),)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key in cells:
            sent[self.key] = self._number(cells[self.key])

    def as_typed(self, value: int, zone: ZoneInfo) -> tuple[str, ...]:
        return (str(value),)

    def of_typed(self, form: TypedForm) -> int:
        return self._number(form.texts[self.key])

    @staticmethod
    def _number(text: str) -> int:
        """Return the number of a text, 0 for what is none, which is refused."""
        typed = text.strip()
        if not typed:
            return USUAL_PRIORITY
        return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 7 else 0


@dataclass(frozen=True, slots=True)
class Rule(DeclaredRecord):
    """A rule for searches: those of exactly `term`, or those that meet it otherwise (`match`). Times are aware. `id` is
    None for one that is not saved yet."""

    term: Annotated[str, TermField("term", longest=LONGEST_TERM, is_required=True)]
    pins: Annotated[
        tuple[PinnedSku, ...],
        PinsField("pins", help="Products that stand at a fixed place of the results, 1 is the first."),
    ] = ()
    boosts: Annotated[
        tuple[str, ...],
        ListField("boosted", help="SKUs of products that come before the others, where the search finds them."),
    ] = ()
    buries: Annotated[tuple[str, ...], ListField("buried", help="SKUs of products that come last.")] = ()
    redirect_url: Annotated[
        str | None,
        PathField(
            "leads to", longest=LONGEST_PATH, help="The page of the shop that the search leads to instead of results."
        ),
    ] = None
    banner: Annotated[Banner | None, BannerField(help="A line above the results.")] = None
    enabled: Annotated[
        bool,
        SwitchField(
            "paused", help="False while the rule is paused.", argument="False pauses the rule, true resumes it."
        ),
    ] = True
    starts_at: Annotated[datetime | None, MomentField("begins", argument=f"From when the rule applies. {TIME}")] = None
    ends_at: Annotated[datetime | None, MomentField("ends", argument=f"Until when the rule applies. {TIME}")] = None
    note: Annotated[
        str,
        BlockField(
            "note",
            longest=LONGEST_NOTE,
            argument="Why the rule is there, for the shop's staff alone.",
            is_served=False,
        ),
    ] = ""
    match: Annotated[
        Match, MatchField("applies to", choices=tuple(Match), shown=MATCH_LABELS, kind=Match, help=MATCH_HELP)
    ] = Match.EXACT
    other_terms: Annotated[
        tuple[str, ...],
        TypedListField(
            "other terms",
            help="Terms for which the rule applies as well, in the same way as for its term.",
            argument="Terms for which the rule applies as well; these replace those it has.",
        ),
    ] = ()
    levels: Annotated[
        tuple[str, ...],
        ListField(
            "levels",
            help="Ids of levels: the rule applies where the words besides the term name one of them, or one below it.",
            argument="Ids of levels to which the rule is narrowed; these replace those it has.",
        ),
    ] = ()
    categories: Annotated[
        tuple[str, ...],
        CategoriesField(
            "categories",
            help="Paths of categories, such as camping/tents: the rule applies where the words besides the term name "
            "one of them, or one below it, or a level.",
            argument="Paths of categories, such as camping/tents, to which the rule is narrowed beside its levels; "
            "these replace those it has.",
        ),
    ] = ()
    priority: Annotated[
        int,
        PriorityField(
            "priority",
            help="Of the rules of one kind that apply to a search, the one with the lowest number comes first.",
            argument=f"1 to {LAST_PRIORITY}, {USUAL_PRIORITY} by default: of the rules that apply, the lowest wins.",
        ),
    ] = USUAL_PRIORITY
    boost_groups: Annotated[
        tuple[ProductGroup, ...],
        GroupsField("boosted groups", help=GROUPS_HELP, argument=f"Products to boost. {GROUPS_HELP}"),
    ] = ()
    bury_groups: Annotated[
        tuple[ProductGroup, ...],
        GroupsField("buried groups", help=GROUPS_HELP, argument=f"Products to bury. {GROUPS_HELP}"),
    ] = ()
    id: int | None = None
    # The names of `levels`, `categories` and of those below them, as they are when the rule is published.
    names: tuple[str, ...] = field(default=(), compare=False)

    @property
    def normalized_term(self) -> str:
        return normalized_term(self.term)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms for which the rule applies; none for one that applies to any search."""
        return () if self.match is Match.ANY else (self.term, *self.other_terms)

    @property
    def is_narrowed(self) -> bool:
        """Whether the words besides the term must name a level or a category."""
        return bool(self.levels or self.categories)

    @property
    def precedence(self) -> tuple[int, int, float]:
        """The order of rules that apply to one search: by how they match, their priority, then the older first."""
        return self.match.rank, self.priority, float("inf") if self.id is None else self.id

    @property
    def groups(self) -> tuple[ProductGroup, ...]:
        return (*self.boost_groups, *self.bury_groups)

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the rule's redirect and of its banner's link, as far as it has them."""
        return tuple(path for path in (self.redirect_url, self.banner and self.banner.link_url) if path)

    @property
    def has_effect(self) -> bool:
        return bool(self.skus or self.groups or self.redirect_url or self.banner)

    def applies_at(self, now: datetime) -> bool:
        """Whether the rule applies: from `starts_at` on and until just before `ends_at`."""
        begun = self.starts_at is None or self.starts_at <= now
        return self.enabled and begun and (self.ends_at is None or now < self.ends_at)


RULE = Rule.schema()


def safe_redirect(path: str | None) -> str | None:
    """Return the path where a browser that is redirected to it stays on this site, else None.

    Browsers read a backslash as a slash, skip tabs and line ends, and take what follows two slashes for a host
    (WHATWG URL, section 4.4); none of these may occur, nor appear after percent-decoding, however often a server on
    the way decodes. Called when a rule is saved and again whenever one is used.
    """
    if not path or len(path) > LONGEST_PATH or not path.startswith("/") or "\\" in path:
        return None
    if UNPRINTABLE.search(path) or any(sign.isspace() for sign in path):
        return None
    try:
        unquote(path, errors="strict")
        stays = all(map(_stays, _readings(_before_query(path))))
    except UnicodeDecodeError:  # Another decoder may make anything of it.
        return None
    return path if stays else None


def _before_query(path: str) -> str:
    return path.partition("?")[0].partition("#")[0]


def _readings(path: str) -> Iterator[str]:
    """Yield the path as it stands, then after each percent-decoding, until that changes nothing."""
    yield path
    while (read := unquote(path, errors="strict")) != path:
        yield read
        path = read


def _stays(path: str) -> bool:
    leaves = "//" in path or "\\" in path or any(part in (".", "..") for part in path.split("/"))
    return not leaves and not UNPRINTABLE.search(path)


def words_searched_at(path: str) -> str | None:
    """The words of the search that a safe path leads to, as the page of results reads them; None for another page.
    Servers read `/%73earch` as `/search`."""
    *_, read = _readings(_before_query(path))
    if _SLASHES.sub("/", read).rstrip("/") != SEARCH_PATH:
        return None
    return request_words(parse_qs(urlsplit(path).query, keep_blank_values=True).get("q", ()))

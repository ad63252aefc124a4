"""A search rule as a value and its JSON, one for forms, tables, bundles, proposals, history and what is served; and the
check of the paths to which a rule redirects a search. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from app.domain.search.text import request_words
from app.domain.shared.schema import Flag, Many, Moment, One, Record, Text, Texts, Whole
from app.domain.shared.text import UNPRINTABLE

MOST_READ = 1_000  # Pins; a list that is longer is refused for its length alone.
RULE = Record(
    term=Text(required=True),
    pins=Many(Record(sku=Text(required=True), position=Whole(required=True)), MOST_READ),
    boosts=Texts(),
    buries=Texts(),
    redirectUrl=Text(allow_none=True),
    banner=One(Record(text=Text(required=True), linkUrl=Text(allow_none=True)), allow_none=True),
    enabled=Flag(),
    startsAt=Moment(allow_none=True),
    endsAt=Moment(allow_none=True),
    note=Text(allow_none=True),
)
LONGEST_PATH = 500
SEARCH_PATH = "/search"
_SLASHES = re.compile(r"[/\\]+")


def normalized_term(text: str) -> str:
    """Return the normal form of a term; two searches are the same where this is: NFKC, case folded, trimmed, spaces
    collapsed (contracts: Rules). May be empty."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


@dataclass(frozen=True, slots=True)
class PinnedSku:
    """`position` is 1-based."""

    sku: str
    position: int


@dataclass(frozen=True, slots=True)
class Banner:
    text: str
    link_url: str | None = None

    def as_json(self) -> dict[str, str | None]:
        return {"text": self.text, "linkUrl": self.link_url}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for searches of exactly `term`. Times are aware. `id` is None for one that is not saved yet."""

    term: str
    pins: tuple[PinnedSku, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    redirect_url: str | None = None
    banner: Banner | None = None
    enabled: bool = True
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    note: str = ""
    id: int | None = None

    @classmethod
    def of_json(cls, fields: Mapping[str, Any], id: int | None = None) -> Rule:
        """Read a rule from what RULE accepts; a field that is left out is as in a new rule."""
        banner = fields.get("banner")
        return cls(
            term=fields["term"],
            pins=tuple(PinnedSku(pin["sku"], pin["position"]) for pin in fields.get("pins", ())),
            boosts=tuple(fields.get("boosts", ())),
            buries=tuple(fields.get("buries", ())),
            redirect_url=fields.get("redirectUrl"),
            banner=Banner(banner["text"], banner.get("linkUrl")) if banner else None,
            enabled=fields.get("enabled", True),
            starts_at=_moment(fields.get("startsAt")),
            ends_at=_moment(fields.get("endsAt")),
            note=fields.get("note") or "",
            id=id,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the rule as `of_json` reads it, without its id. Rules that differ in nothing else have equal JSON."""
        return {
            "term": self.term,
            "pins": [{"sku": pin.sku, "position": pin.position} for pin in self.pins],
            "boosts": list(self.boosts),
            "buries": list(self.buries),
            "redirectUrl": self.redirect_url,
            "banner": self.banner.as_json() if self.banner else None,
            "enabled": self.enabled,
            "startsAt": _rfc3339(self.starts_at),
            "endsAt": _rfc3339(self.ends_at),
            "note": self.note,
        }

    @property
    def normalized_term(self) -> str:
        return normalized_term(self.term)

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the rule's redirect and of its banner's link, as far as it has them."""
        return tuple(path for path in (self.redirect_url, self.banner and self.banner.link_url) if path)

    @property
    def has_effect(self) -> bool:
        return bool(self.skus or self.redirect_url or self.banner)

    def applies_at(self, now: datetime) -> bool:
        """Whether the rule applies: from `starts_at` on and until just before `ends_at`."""
        begun = self.starts_at is None or self.starts_at <= now
        return self.enabled and begun and (self.ends_at is None or now < self.ends_at)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def _rfc3339(moment: datetime | None) -> str | None:
    """Return a time in UTC as RFC 3339, without loss: a rule that is only proposed may begin at any microsecond."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a site by normalised term."""

    by_term: Mapping[str, Rule] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> RuleSet:
        return cls(MappingProxyType({rule.normalized_term: rule for rule in rules}))

    def find(self, words: str, now: datetime) -> Rule | None:
        """The rule that applies to a search at a time."""
        rule = self.by_term.get(normalized_term(words))
        return rule if rule is not None and rule.applies_at(now) else None

    def with_rule(self, rule: Rule) -> RuleSet:
        """Return the rules as if the rule were saved, in the place of the one of its id or term."""
        others = (kept for kept in self.by_term.values() if rule.id is None or kept.id != rule.id)
        return RuleSet.of((*others, rule))

    def without(self, rule_id: int) -> RuleSet:
        return RuleSet.of(kept for kept in self.by_term.values() if kept.id != rule_id)


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

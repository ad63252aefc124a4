"""What a search rule must satisfy (contracts: Rules). Pure: which SKUs the shop has is told by the caller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.search.live.redirects import words_searched_at
from app.domain.search.live.served import Banner, PinnedSku, Rule, normalized_term
from app.domain.search.rules.redirect import path_problems
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import block_problems, line_problems, one_line

LONGEST_TERM = 100  # What is counted is no longer.
LONGEST_BANNER = 300
LONGEST_NOTE = 2_000
LONGEST_SKU = 64
LAST_POSITION = 100
MOST_PLACED = 100  # Of each: pins, boosts, buries.
MOST_RULES = 1_000  # All rules of a site are served from one snapshot.
LISTS = {"pins": "pinned", "boosts": "boosted", "buries": "buried"}


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A rule as somebody sent it. Times are aware; `banner_link_url` without `banner_text` is refused."""

    term: str
    pins: tuple[PinnedSku, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    redirect_url: str | None = None
    banner_text: str | None = None
    banner_link_url: str | None = None
    enabled: bool = True
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    note: str = ""

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    @property
    def has_effect(self) -> bool:
        return bool(self.skus or self.redirect_url or self.banner_text)


def rule_of_draft(draft: RuleDraft, rule_id: int | None = None) -> Rule:
    """The rule as search works with it."""
    return Rule(
        term=draft.term,
        pins=draft.pins,
        boosts=draft.boosts,
        buries=draft.buries,
        redirect_url=draft.redirect_url,
        banner=Banner(draft.banner_text, draft.banner_link_url) if draft.banner_text else None,
        enabled=draft.enabled,
        starts_at=draft.starts_at,
        ends_at=draft.ends_at,
        id=rule_id,
    )


def check(draft: RuleDraft, known_skus: Mapping[str, str]) -> RuleDraft:
    """Trimmed, its pins in the order of their positions. Raises Invalid with every problem."""
    clean = tidy(draft)
    if problems := rule_problems(clean, known_skus):
        raise Invalid(problems)
    return replace(clean, pins=tuple(sorted(clean.pins, key=lambda pin: pin.position)))


def tidy(draft: RuleDraft) -> RuleDraft:
    return replace(
        draft,
        term=one_line(draft.term),
        pins=tuple(PinnedSku(pin.sku.strip(), pin.position) for pin in draft.pins),
        boosts=tuple(sku.strip() for sku in draft.boosts),
        buries=tuple(sku.strip() for sku in draft.buries),
        redirect_url=(draft.redirect_url or "").strip() or None,
        banner_text=one_line(draft.banner_text or "") or None,
        banner_link_url=(draft.banner_link_url or "").strip() or None,
        starts_at=draft.starts_at and draft.starts_at.replace(microsecond=0),
        ends_at=draft.ends_at and draft.ends_at.replace(microsecond=0),
        note=draft.note.replace("\r\n", "\n").strip(),
    )


def rule_problems(draft: RuleDraft, known_skus: Mapping[str, str]) -> list[Problem]:
    """`draft` is tidy. Each problem points to its place in the JSON of the rule. `known_skus` are those of the
    shop, with the names of the products."""
    return [
        *_term_problems(draft.term),
        *_position_problems(draft.pins, known_skus),
        *_sku_problems(draft, known_skus),
        *_redirect_problems(draft),
        *_banner_problems(draft),
        *_schedule_problems(draft),
        *block_problems(draft.note, "The note", LONGEST_NOTE, "#/note"),
        *_effect_problems(draft),
    ]


def _term_problems(term: str) -> list[Problem]:
    problems = line_problems(term, "The term", LONGEST_TERM, "#/term", required=True)
    if not problems and len(normalized_term(term)) > LONGEST_TERM:
        message = f"Written out, the term is longer than {LONGEST_TERM} characters."
        problems.append(Problem("too_long", message, "#/term"))
    return problems


def _position_problems(pins: Sequence[PinnedSku], names: Mapping[str, str]) -> Iterator[Problem]:
    taken: dict[int, str] = {}
    for index, pin in enumerate(pins[:MOST_PLACED]):
        pointer = f"#/pins/{index}/position"
        if not 1 <= pin.position <= LAST_POSITION:
            message = f"The position of {_named(pin.sku, names)} must be a whole number from 1 to {LAST_POSITION}."
            yield Problem("invalid_position", message, pointer)
        elif pin.position in taken:
            both = f"{_named(pin.sku, names)} and {_named(taken[pin.position], names)}"
            message = f"{both} are both pinned to {pin.position}."
            yield Problem("duplicate_position", message, pointer)
        taken.setdefault(pin.position, pin.sku)


def _sku_problems(draft: RuleDraft, known_skus: Mapping[str, str]) -> Iterator[Problem]:
    lists: tuple[tuple[str, Iterable[str]], ...] = (
        ("pins", (pin.sku for pin in draft.pins)),
        ("boosts", draft.boosts),
        ("buries", draft.buries),
    )
    told: dict[str, str] = {}
    for name, skus in lists:
        for index, sku in enumerate(skus):
            if index == MOST_PLACED:
                message = f"At most {MOST_PLACED} products can be {LISTS[name]} in one rule."
                yield Problem("too_many", message, f"#/{name}")
                break
            pointer = f"#/{name}/{index}" + ("/sku" if name == "pins" else "")
            yield from _one_sku_problems(sku, name, pointer, told, known_skus)


def _one_sku_problems(
    sku: str, name: str, pointer: str, told: dict[str, str], known_skus: Mapping[str, str]
) -> Iterator[Problem]:
    """`told` are the SKUs that stand before it, with what becomes of them."""
    if not sku:
        yield Problem("required", "A SKU is missing.", pointer)
    elif sku in told:
        twice = f"{told[sku]} twice" if told[sku] == LISTS[name] else f"both {told[sku]} and {LISTS[name]}"
        yield Problem("duplicate_sku", f"{_named(sku, known_skus)} is {twice}.", pointer)
    elif sku not in known_skus:
        yield Problem("unknown_sku", f"The shop has no product with the SKU “{_shown(sku)}”.", pointer)
    told.setdefault(sku, LISTS[name])


def _redirect_problems(draft: RuleDraft) -> list[Problem]:
    if draft.redirect_url is None:
        return []
    problems = path_problems(draft.redirect_url, "The redirect", "#/redirectUrl")
    if not problems and _searches_again(draft.redirect_url, draft.term):
        message = "The redirect leads to this very search again. Give another page of the shop."
        problems.append(Problem("redirect_loop", message, "#/redirectUrl"))
    return problems


def _searches_again(path: str, term: str) -> bool:
    words = words_searched_at(path)
    return words is not None and normalized_term(words) == normalized_term(term)


def _banner_problems(draft: RuleDraft) -> list[Problem]:
    problems = line_problems(draft.banner_text or "", "The banner’s text", LONGEST_BANNER, "#/banner/text")
    if draft.banner_link_url is None:
        return problems
    if draft.banner_text is None:
        problems.append(Problem("required", "The banner has a link but no text.", "#/banner/text"))
    return [*problems, *path_problems(draft.banner_link_url, "The banner’s link", "#/banner/linkUrl")]


def _schedule_problems(draft: RuleDraft) -> list[Problem]:
    if draft.starts_at is None or draft.ends_at is None or draft.starts_at < draft.ends_at:
        return []
    return [Problem("ends_before_start", "The rule would end before it begins.", "#/endsAt")]


def _effect_problems(draft: RuleDraft) -> list[Problem]:
    if draft.has_effect or draft.banner_link_url is not None:
        return []
    message = "The rule would change nothing: pin, boost or bury a product, give a redirect, or write a banner."
    return [Problem("without_effect", message)]


def _named(sku: str, names: Mapping[str, str]) -> str:
    """People know a product by its name; the SKU tells apart what is named alike."""
    return f"“{names[sku]}” ({_shown(sku)})" if names.get(sku) else f"“{_shown(sku)}”"


def _shown(sku: str) -> str:
    return sku if len(sku) <= LONGEST_SKU else sku[:LONGEST_SKU] + "…"

"""Definition of a search rule: limits, checks across its fields, and the rule in words. Pure: the caller says which
SKUs the shop has. Each field by itself is declared in app/domain/search/serving/rules.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from app.domain.search.serving.rules import (
    LONGEST_PATH,
    LONGEST_TERM,
    Banner,
    PinnedSku,
    Rule,
    normalized_term,
    safe_redirect,
    words_searched_at,
)
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import fields_of
from app.domain.shared.text import UNPRINTABLE, line_problems

if TYPE_CHECKING:
    from app.domain.relevance.models import SearchRule

LONGEST_BANNER = 300
LONGEST_SKU = 64
LAST_POSITION = 100
MOST_PLACED = 100  # Of each: pins, boosts, buries.
MOST_RULES = 1_000  # All rules of a site are served from one snapshot.
LISTS = {"pins": "pinned", "boosts": "boosted", "buries": "buried"}
TERM, *OTHER_FIELDS = fields_of(Rule)


def check_rule(rule: Rule, known_skus: Mapping[str, str], further: Sequence[Problem] = ()) -> Rule:
    """Return a tidy rule with its pins in the order of their positions. Raises Invalid with every problem, `further`
    among them. `known_skus` are those of the shop, with the names of the products."""
    problems = TERM.problems(rule.term)
    if not problems and len(normalized_term(rule.term)) > LONGEST_TERM:
        message = f"Written out, the term is longer than {LONGEST_TERM} characters."
        problems.append(Problem("too_long", message, "#/term"))
    problems += _position_problems(rule.pins, known_skus)
    problems += _sku_problems(rule, known_skus)
    problems += _redirect_problems(rule)
    problems += _banner_problems(rule.banner)
    if rule.starts_at is not None and rule.ends_at is not None and rule.starts_at >= rule.ends_at:
        problems.append(Problem("ends_before_start", "The rule would end before it begins.", "#/endsAt"))
    for field in OTHER_FIELDS:
        problems += field.problems(getattr(rule, field.name))
    if not rule.has_effect:
        message = "The rule would change nothing: pin, boost or bury a product, give a redirect, or write a banner."
        problems.append(Problem("without_effect", message))
    if problems := [*problems, *further]:
        raise Invalid(problems)
    return replace(rule, pins=tuple(sorted(rule.pins, key=lambda pin: pin.position)))


def _position_problems(pins: Sequence[PinnedSku], names: Mapping[str, str]) -> Iterator[Problem]:
    taken: dict[int, str] = {}
    for index, pin in enumerate(pins[:MOST_PLACED]):
        pointer = f"#/pins/{index}/position"
        if not 1 <= pin.position <= LAST_POSITION:
            message = (
                f"The position of {_product_label(pin.sku, names)} must be a whole number from 1 to {LAST_POSITION}."
            )
            yield Problem("invalid_position", message, pointer)
        elif pin.position in taken:
            both = f"{_product_label(pin.sku, names)} and {_product_label(taken[pin.position], names)}"
            message = f"{both} are both pinned to {pin.position}."
            yield Problem("duplicate_position", message, pointer)
        taken.setdefault(pin.position, pin.sku)


def _sku_problems(rule: Rule, known_skus: Mapping[str, str]) -> Iterator[Problem]:
    lists: tuple[tuple[str, Iterable[str]], ...] = (
        ("pins", (pin.sku for pin in rule.pins)),
        ("boosts", rule.boosts),
        ("buries", rule.buries),
    )
    placed: dict[str, str] = {}
    for name, skus in lists:
        for index, sku in enumerate(skus):
            if index == MOST_PLACED:
                message = f"At most {MOST_PLACED} products can be {LISTS[name]} in one rule."
                yield Problem("too_many", message, f"#/{name}")
                break
            pointer = f"#/{name}/{index}" + ("/sku" if name == "pins" else "")
            yield from _one_sku_problems(sku, name, pointer, placed, known_skus)


def _one_sku_problems(
    sku: str, name: str, pointer: str, placed: dict[str, str], known_skus: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the problems of one SKU and add it to `placed`, the SKUs before it with their placement ("pinned")."""
    if not sku:
        yield Problem("required", "A SKU is missing.", pointer)
    elif sku in placed:
        twice = f"{placed[sku]} twice" if placed[sku] == LISTS[name] else f"both {placed[sku]} and {LISTS[name]}"
        yield Problem("duplicate_sku", f"{_product_label(sku, known_skus)} is {twice}.", pointer)
    elif sku not in known_skus:
        yield Problem("unknown_sku", f"The shop has no product with the SKU “{_short_sku(sku)}”.", pointer)
    placed.setdefault(sku, LISTS[name])


def _redirect_problems(rule: Rule) -> list[Problem]:
    if rule.redirect_url is None:
        return []
    problems = _path_problems(rule.redirect_url, "The redirect", "#/redirectUrl")
    words = words_searched_at(rule.redirect_url) if not problems else None
    if words is not None and normalized_term(words) == normalized_term(rule.term):
        message = "The redirect leads to this very search again. Give another page of the shop."
        problems.append(Problem("redirect_loop", message, "#/redirectUrl"))
    return problems


def _path_problems(path: str, label: str, pointer: str) -> list[Problem]:
    """Return the problems of a path. `label` begins the sentence, as in "The redirect"."""
    if len(path) > LONGEST_PATH:
        return [Problem("too_long", f"{label} is longer than {LONGEST_PATH} characters.", pointer)]
    if safe_redirect(path) is not None:
        return []
    shown = UNPRINTABLE.sub("�", path[:60])
    message = f"{label} “{shown}” must be a page of this shop, given by its path alone, such as /c/rainwear."
    return [Problem("invalid_path", message, pointer)]


def _banner_problems(banner: Banner | None) -> list[Problem]:
    if banner is None:
        return []
    problems = line_problems(banner.text, "The banner’s text", LONGEST_BANNER, "#/banner/text")
    if not banner.text:
        problems.append(Problem("required", "The banner has a link but no text.", "#/banner/text"))
    if banner.link_url is not None:
        problems += _path_problems(banner.link_url, "The banner’s link", "#/banner/linkUrl")
    return problems


def _product_label(sku: str, names: Mapping[str, str]) -> str:
    """Return the product's name with its SKU, since names repeat; the SKU alone where no name is known."""
    return f"“{names[sku]}” ({_short_sku(sku)})" if names.get(sku) else f"“{_short_sku(sku)}”"


def _short_sku(sku: str) -> str:
    return sku if len(sku) <= LONGEST_SKU else sku[:LONGEST_SKU] + "…"


class RuleState(StrEnum):
    """The state of a rule by its switch and its dates, whether or not it is served as it is saved."""

    LIVE = "live"
    PAUSED = "paused"
    SCHEDULED = "scheduled"
    ENDED = "ended"


def state_of(rule: Rule | SearchRule, now: datetime) -> RuleState:
    if not rule.enabled:
        return RuleState.PAUSED
    if rule.ends_at is not None and rule.ends_at <= now:
        return RuleState.ENDED
    if rule.starts_at is not None and now < rule.starts_at:
        return RuleState.SCHEDULED
    return RuleState.LIVE


def rule_effects(rule: Rule | SearchRule) -> list[str]:
    """Return the effects of the rule, such as "3 pinned" and "redirect to /c/sale", each as a text."""
    placed = (("pinned", rule.pins), ("boosted", rule.boosts), ("buried", rule.buries))
    parts = [f"{len(products)} {word}" for word, products in placed if products]
    if rule.redirect_url:
        parts.insert(0, f"redirect to {rule.redirect_url}")
    if rule.banner:
        parts.append("banner")
    return parts


def deletion_effects(rule: Rule | SearchRule, now: datetime) -> list[str]:
    """Return what changes for shoppers when the rule is deleted, a sentence each."""
    state = state_of(rule, now)
    if state is not RuleState.LIVE:
        why = {RuleState.PAUSED: "is paused", RuleState.SCHEDULED: "has not begun", RuleState.ENDED: "has ended"}[state]
        return [f"The rule {why}, so shoppers see no difference."]
    return list(_deletion_differences(rule))


def _deletion_differences(rule: Rule | SearchRule) -> Iterator[str]:
    if rule.redirect_url:
        yield f"Shoppers see results again instead of {rule.redirect_url}."
    for word, products in (("pinned", rule.pins), ("boosted", rule.boosts), ("buried", rule.buries)):
        if products:
            plural = len(products) != 1
            moved = "" if word == "pinned" else f", where the search finds {'them' if plural else 'it'} at all"
            yield (
                f"{len(products)} {word} product{'s' if plural else ''} {'go' if plural else 'goes'} back to"
                f" {'their' if plural else 'its'} usual place{'s' if plural else ''}{moved}."
            )
    if rule.banner:
        yield "The banner above the results goes."

"""Definition of a search rule: limits, checks across its fields, and the rule in words. Pure: the caller says which
SKUs the shop has. Each field by itself is declared in app/domain/search/serving/rules.py."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from app.domain.search.serving.product_groups import AttributeCondition, GroupNames, ProductGroup, describe_group
from app.domain.search.serving.rule_set import RuleSet
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
from app.domain.search.serving.term_index import Match, run_of
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import fields_of
from app.domain.shared.text import UNPRINTABLE, line_problems, numbered

if TYPE_CHECKING:
    from app.domain.relevance.models import SearchRule

LONGEST_BANNER = 300
LONGEST_SKU = 64
LAST_POSITION = 100
MOST_PLACED = 100  # Of each: pins, boosts, buries.
MOST_TERMS, MOST_LEVELS = 20, 20  # Besides the term; of one rule, and as many categories.
MOST_RULES = 10_000  # All rules of a site are served from one snapshot.
NO_LEVEL, NO_CATEGORY = "There is no level with the id “{}”.", "The shop has no category “{}”."
LISTS = {"pins": "pinned", "boosts": "boosted", "buries": "buried"}
TERM, *OTHER_FIELDS = fields_of(Rule)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What the shop has: products as their names by SKU, the ids of levels, of the attributes with values and of those
    that are numbers, and the paths of categories."""

    skus: Mapping[str, str] = field(default_factory=dict)
    levels: Collection[str] = ()
    attributes: Collection[str] = ()
    numbers: Collection[str] = ()
    categories: Collection[str] = ()


def check_rule(rule: Rule, known: KnownNames, further: Sequence[Problem] = ()) -> Rule:
    """Return a tidy rule with its pins in the order of their positions. Raises Invalid with every problem, `further`
    among them."""
    problems = [*_term_problems(rule), *_match_problems(rule), *_unknown_name_problems(rule, known)]
    problems += _position_problems(rule.pins, known.skus)
    problems += _sku_problems(rule, known.skus)
    problems += _redirect_problems(rule)
    problems += _banner_problems(rule.banner)
    if rule.starts_at is not None and rule.ends_at is not None and rule.starts_at >= rule.ends_at:
        problems.append(Problem("ends_before_start", "The rule would end before it begins.", "#/endsAt"))
    for each in OTHER_FIELDS:
        problems += each.problems(getattr(rule, each.name))
    if not rule.has_effect:
        message = "The rule would change nothing: pin, boost or bury products, give a redirect, or write a banner."
        problems.append(Problem("without_effect", message))
    if problems := [*problems, *further]:
        raise Invalid(problems)
    return replace(rule, pins=tuple(sorted(rule.pins, key=lambda pin: pin.position)))


def _term_problems(rule: Rule) -> Iterator[Problem]:
    named = [("#/term", rule.term), *((f"#/otherTerms/{at}", term) for at, term in enumerate(rule.other_terms))]
    seen: set[str] = set()
    for pointer, term in named[: MOST_TERMS + 1]:
        normal = normalized_term(term)
        problems = [replace(problem, pointer=pointer) for problem in TERM.problems(term)]
        if not problems and len(normal) > LONGEST_TERM:
            message = f"Written out, the term is longer than {LONGEST_TERM} characters."
            problems.append(Problem("too_long", message, pointer))
        if not problems and normal in seen:
            problems.append(Problem("duplicate_term", f"The term “{term}” stands there twice.", pointer))
        if not problems and rule.match in (Match.STARTS_WITH, Match.CONTAINS) and not run_of(term):
            message = f"“{term}” has no word by which a search could begin, or that it could contain."
            problems.append(Problem("without_word", message, pointer))
        yield from problems
        seen.add(normal)
    if len(rule.other_terms) > MOST_TERMS:
        yield Problem("too_many", f"A rule has at most {MOST_TERMS} other terms.", "#/otherTerms")


def _match_problems(rule: Rule) -> Iterator[Problem]:
    if rule.match is Match.ANY and not rule.is_narrowed:
        message = "A rule for any search needs a level or a category that the search must name. Without, it takes all."
        yield Problem("required", message, "#/levels")
    for key, noun in (("levels", "level"), ("categories", "category")):
        if rule.match is Match.EXACT and getattr(rule, key):
            message = f"A rule for exactly its term takes no {noun}: nothing else stands in the search."
            yield Problem(f"{key}_of_exact", message, f"#/{key}")
        if len(getattr(rule, key)) > MOST_LEVELS:
            yield Problem("too_many", f"A rule has at most {MOST_LEVELS} {key}.", f"#/{key}")
    if rule.match is Match.ANY and rule.other_terms:
        yield Problem("terms_of_any", "A rule for any search takes no other terms.", "#/otherTerms")


def _unknown_name_problems(rule: Rule, known: KnownNames) -> Iterator[Problem]:
    """Yield the problems of levels, categories and attributes that the shop does not have."""
    yield from _level_problems("#/levels", rule.levels, known)
    for at, path in enumerate(rule.categories):
        if path not in known.categories:
            yield Problem("unknown_category", NO_CATEGORY.format(path[:LONGEST_SKU]), f"#/categories/{at}")
    for key, groups in (("boostGroups", rule.boost_groups), ("buryGroups", rule.bury_groups)):
        for place, group in enumerate(groups):
            yield from _level_problems(f"#/{key}/{place}/levels", group.levels, known)
            for at, one in enumerate(group.attributes):
                yield from _attribute_problems(f"#/{key}/{place}/attributes/{at}/id", one, known)


def _attribute_problems(pointer: str, condition: AttributeCondition, known: KnownNames) -> Iterator[Problem]:
    takes_values, takes_range = condition.id in known.attributes, condition.id in known.numbers
    if condition.id and not (takes_range if condition.is_range and not condition.values else takes_values):
        if takes_range and not condition.values:
            return  # Nothing is said of it, which is refused already.
        kind = "that is a number" if condition.is_range else "with values"
        yield Problem("unknown_attribute", f"No attribute {kind} has the id “{condition.id[:64]}”.", pointer)


def _level_problems(pointer: str, levels: Sequence[str], known: KnownNames) -> Iterator[Problem]:
    for at, id in enumerate(levels):
        if id not in known.levels:
            yield Problem("unknown_level", NO_LEVEL.format(id[:64]), f"{pointer}/{at}")


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
    if words is not None and RuleSet.of([rule]).matching(words):
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


def describe_searches(
    rule: Rule | SearchRule, levels: Mapping[str, str] | None = None, categories: Mapping[str, str] | None = None
) -> str:
    """Describe the searches for which a rule is, as in "Searches that contain “tent” and name Camping". `levels` are
    the names of levels by their ids, `categories` those of categories by their paths."""
    names = [(levels or {}).get(id, id) for id in rule.levels]
    names += [(categories or {}).get(path, path) for path in rule.categories]
    named = " or ".join(dict.fromkeys(names))
    terms = " or ".join(f"“{term}”" for term in (rule.term, *rule.other_terms))
    match Match(rule.match):
        case Match.EXACT:
            return f"Searches for exactly {terms}"
        case Match.ANY:
            return f"Searches that name {named}"
        case Match.STARTS_WITH:
            text = f"Searches that start with {terms}"
        case Match.CONTAINS:
            text = f"Searches that contain {terms}"
    return f"{text} and name {named}" if named else text


def rule_label(rule: Rule | SearchRule) -> str:
    """Return the name of a rule, as in "rule for “tent”" and "rule for searches that contain “tent”"."""
    if Match(rule.match) is Match.EXACT:
        return f"rule for “{rule.term}”"
    meets = {Match.STARTS_WITH: "rule for searches that start with", Match.CONTAINS: "rule for searches that contain"}
    return f"{meets.get(Match(rule.match), 'rule')} “{rule.term}”"


def overlapping(rule: Rule, rules: RuleSet) -> list[Rule]:
    """Return the other rules that apply to some of the same searches, by precedence, as far as terms, levels and
    categories show it. Dates and switches are passed over."""
    own = RuleSet.of([rule])
    names = set(rule.names)
    found = {one.id: one for term in rule.terms for one in rules.matching(term)}
    for one in rules.rules:
        if any(own.matching(term) for term in one.terms) or names.intersection(one.names):
            found[one.id] = one
    found.pop(rule.id, None)
    return sorted(found.values(), key=lambda one: one.precedence)


def missing_names(rule: Rule | SearchRule, levels: Collection[str], categories: Collection[str]) -> list[str]:
    """Return a sentence on each level and category of the rule that the shop does not have any more. `levels` are ids,
    `categories` paths."""
    gone = [NO_LEVEL.format(id) for id in rule.levels if id not in levels]
    return [*gone, *(NO_CATEGORY.format(path) for path in rule.categories if path not in categories)]


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


def rule_effects(rule: Rule | SearchRule, names: GroupNames | None = None) -> list[str]:
    """Return the effects of the rule, such as "3 pinned" and "redirect to /c/sale", each as a text. With `names` groups
    are described by their conditions, else counted."""
    placed = (("pinned", rule.pins), ("boosted", rule.boosts), ("buried", rule.buries))
    parts = [f"{len(products)} {word}" for word, products in placed if products]
    grouped = (("boosted", rule.boost_groups), ("buried", rule.bury_groups))
    if names is None:
        parts += [f"{numbered(len(groups), 'group')} {word}" for word, groups in grouped if groups]
    else:
        parts += [f"{word}: {describe_group(_as_group(one), names)}" for word, groups in grouped for one in groups]
    if rule.redirect_url:
        parts.insert(0, f"redirect to {rule.redirect_url}")
    if rule.banner:
        parts.append("banner")
    return parts


def _as_group(stored: ProductGroup | Mapping[str, Any]) -> ProductGroup:
    return stored if isinstance(stored, ProductGroup) else ProductGroup.of_json(stored)


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
    for word, groups in (("boosted", rule.boost_groups), ("buried", rule.bury_groups)):
        if groups:
            yield f"The products of {numbered(len(groups), f'{word} group')} go back to their usual places."
    if rule.banner:
        yield "The banner above the results goes."

"""Reads the parameters of a listing's address into a ListingRequest; malformed ones are refused or ignored here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from app.domain.search.engine import Sort
from app.domain.search.listings.listing import ANY, PRICE_MAX, PRICE_MIN, RANKED_BY, WORDS_ALONE, ListingRequest, Span
from app.domain.search.text import request_words
from app.domain.shared.money import parse_money
from app.domain.shared.problems import Invalid, Problem

TRACKING = frozenset(("gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_gl", "_ga"))
TRACKING_PREFIX = "utm_"
MOST_PARAMETERS = 20
MOST_VALUES = 10
LONGEST_NAME = 64  # Of a parameter that is no facet; the ids of attributes have a limit of their own.
LONGEST_VALUE = 200
LARGEST_PAGE_SIZE = 100
FARTHEST_PAGE = 1_000_000_000

_WHOLE = re.compile(r"[0-9]{1,200}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,6})?", re.ASCII)

Given = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class ListingGrammar:
    """The parameters that a site's listings understand besides those that every listing knows: the facets with values
    and those with numbers (price apart), the default page size, names that only track visitors."""

    value_facets: frozenset[str] = frozenset()
    number_facets: frozenset[str] = frozenset()
    page_size: int = 24
    currency: str = "gbp"
    extra_tracking: frozenset[str] = frozenset()


OWN_PARAMETERS = frozenset(("q", "sort", "p", "pageSizeOverride", RANKED_BY, PRICE_MIN, PRICE_MAX))


def listing_parameters(value_facets: Iterable[str], number_facets: Iterable[str]) -> frozenset[str]:
    """Return the names of all parameters by which a site's listings are filtered, sorted, searched or paged."""
    ends = {f"{facet}{end}" for facet in number_facets for end in ("_min", "_max")}
    return frozenset((*OWN_PARAMETERS, *value_facets, *ends))


def is_listing_parameter(name: str, value_facets: Set[str], number_facets: Set[str]) -> bool:
    """Whether `listing_parameters` has a name; much faster for one name than listing all."""
    known = name in OWN_PARAMETERS or name in value_facets
    return known or _number_facet(name, value_facets, number_facets) is not None


def is_tracking(name: str, extra: frozenset[str] = frozenset()) -> bool:
    """Whether a parameter only tracks visitors. `extra` has further names of such parameters."""
    return name.startswith(TRACKING_PREFIX) or name in TRACKING or name in extra


def tracking_parameters(
    parameters: Iterable[tuple[str, str]], extra: frozenset[str] = frozenset()
) -> list[tuple[str, str]]:
    """Return those parameters that only track visitors, as they were given but encodable."""
    return [(_encodable(name), _encodable(value)) for name, value in parameters if is_tracking(name, extra)]


def read_listing(path: str, parameters: Iterable[tuple[str, str]], grammar: ListingGrammar) -> ListingRequest:
    """Return the request of an address. Invalid values are ignored. Raises Invalid when there are more than 20
    parameters, 10 values of one, or names or values too long."""
    given = _grouped(parameters, grammar)
    _check_size(given, grammar)
    words = request_words(given.get("q", ()))
    page = _page(given)
    return ListingRequest(
        path=path,
        values=_values(given, grammar),
        spans=_spans(given, grammar),
        price=_price(given, grammar.currency),
        words=words,
        sort=_sort(given, words),
        page_size=_page_size(given, grammar.page_size),
        page=page or 1,
        words_alone=bool(words) and _first(given, RANKED_BY) == WORDS_ALONE,
        unknown=_unknown(given, grammar),
        currency=grammar.currency,
        given=tuple(sorted(name for name in given if name != "p" or page is None)),
    )


def _grouped(parameters: Iterable[tuple[str, str]], grammar: ListingGrammar) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for raw_name, raw_value in parameters:
        name, value = _encodable(raw_name), _encodable(raw_value)
        if not is_tracking(name, grammar.extra_tracking):
            given.setdefault(name, []).append(value)
    return given


def _encodable(text: str) -> str:
    """Return a text that a link can carry. Half of a surrogate pair cannot be written into a link again."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _check_size(given: Given, grammar: ListingGrammar) -> None:
    problems = []
    if len(given) > MOST_PARAMETERS:
        problems.append(Problem("too_many_parameters", f"An address carries at most {MOST_PARAMETERS} parameters."))
    for name, values in given.items():
        if len(name) > LONGEST_NAME and not _is_known(name, grammar):
            problems.append(Problem("parameter_too_long", f"The parameter {name[:20]}… has too long a name."))
        if len(values) > MOST_VALUES:
            message = f"The parameter {name[:20]} has more than {MOST_VALUES} values."
            problems.append(Problem("too_many_values", message))
        if name != "q" and any(len(value) > LONGEST_VALUE for value in values):
            message = f"A value of the parameter {name[:20]} is longer than {LONGEST_VALUE} characters."
            problems.append(Problem("value_too_long", message))
    if problems:
        raise Invalid(problems)


def _first(given: Given, name: str) -> str:
    return next((value.strip() for value in given.get(name, ()) if value.strip()), "")


def _values(given: Given, grammar: ListingGrammar) -> tuple[tuple[str, tuple[str, ...]], ...]:
    chosen = {name: tuple(sorted({v for v in given[name] if v})) for name in given if name in grammar.value_facets}
    return tuple(sorted((name, values) for name, values in chosen.items() if values))


def _unknown(given: Given, grammar: ListingGrammar) -> tuple[tuple[str, tuple[str, ...]], ...]:
    names = sorted(name for name in given if not _is_known(name, grammar))
    return tuple((name, tuple(sorted(set(given[name])))) for name in names)


def _spans(given: Given, grammar: ListingGrammar) -> tuple[tuple[str, Span], ...]:
    facets = (_number_facet(name, grammar.value_facets, grammar.number_facets) for name in given)
    names = {facet_id for facet_id in facets if facet_id}
    numbers = {name: texts for name, texts in given.items() if name not in grammar.value_facets}
    spans = {name: _span(_number(numbers, f"{name}_min"), _number(numbers, f"{name}_max")) for name in names}
    return tuple(sorted((name, span) for name, span in spans.items() if span))


def _price(given: Given, currency: str) -> Span:
    return _span(_amount(_first(given, PRICE_MIN), currency), _amount(_first(given, PRICE_MAX), currency))


def _span(low: float | None, high: float | None) -> Span:
    """Return the span between two ends, which are swapped where the lower one is the larger."""
    if low is None and high is None:
        return ANY
    if low is not None and high is not None and low > high:
        return Span(high, low)
    return Span(low, high)


def _number(given: Given, name: str) -> float | None:
    text = _first(given, name)
    return float(text) + 0.0 if _NUMBER.fullmatch(text) else None


def _amount(text: str, currency: str) -> int | None:
    """Return the amount, or None: a text that is no amount, or more than anything can cost, limits nothing."""
    try:
        return parse_money(text, currency) if text else None
    except Invalid:
        return None


def _sort(given: Given, words: str) -> Sort | None:
    default = Sort.RELEVANCE if words else Sort.FEATURED
    wanted = _first(given, "sort")
    if wanted not in tuple(Sort) or (wanted == Sort.RELEVANCE and not words):
        return None
    return None if wanted == default else Sort(wanted)


def _page_size(given: Given, default: int) -> int | None:
    text = _first(given, "pageSizeOverride")
    size = min(int(text), LARGEST_PAGE_SIZE) if _WHOLE.fullmatch(text) else 0
    return size if size and size != default else None


def _page(given: Given) -> int | None:
    """Return the page number; None where it is missing, repeated, 0 or no number."""
    texts = given.get("p", [])
    if len(texts) != 1 or not _WHOLE.fullmatch(texts[0]):
        return None
    return min(int(texts[0]), FARTHEST_PAGE) or None


def _is_known(name: str, grammar: ListingGrammar) -> bool:
    return is_listing_parameter(name, grammar.value_facets, grammar.number_facets)


def _number_facet(name: str, value_facets: Set[str], number_facets: Set[str]) -> str | None:
    """Return the numeric facet of which a parameter is the lower or upper end, None for another parameter. A facet with
    values whose own id looks like an end comes first."""
    if name in value_facets or not name.endswith(("_min", "_max")):
        return None
    facet_id = name[:-4]
    return facet_id if facet_id in number_facets else None

"""The request for a listing: read once from the parameters of an address, it feeds the filter, the links and the page's
head.

The grammar of a listing's address is in one place, here: `<facetId>=<value>` repeated for several values,
`<facetId>_min` and `<facetId>_max` for numbers, `price_min` and `price_max` in major units, `q`, `sort`,
`pageSizeOverride`, `_by`, `_as`, `_is` and `p`, emitted in that order. Defaults and tracking parameters are never
emitted. Malformed parameters are ignored, too many or too long ones refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import quote, quote_plus, urlencode

from app.domain.merchandising.facets import Filter
from app.domain.merchandising.tree import Display
from app.domain.search.engine import RangeFilter, SearchRequest, Sort, ValueFilter
from app.domain.search.ranking.interleaving import DraftKey
from app.domain.search.text import request_words
from app.domain.shared.money import decimal_text, parse_money
from app.domain.shared.problems import Invalid, Problem

PRICE = "price"
PRICE_MIN, PRICE_MAX = "price_min", "price_max"
RANKED_BY, WORDS_ALONE = "_by", "words"  # No attribute's id begins like this.
KEPT_WORDS = "_as"  # Facets whose words in the search stay words, where it is understood otherwise.
FILTER_WORDS = "_is"  # Facets chosen by an offer: their words in the search are the filter.
OWN_PARAMETERS = frozenset(
    ("q", "sort", "p", "pageSizeOverride", RANKED_BY, KEPT_WORDS, FILTER_WORDS, PRICE_MIN, PRICE_MAX)
)
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

Values = tuple[tuple[str, tuple[str, ...]], ...]
Given = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Span:
    """The ends of a range that a shopper chose; None is open."""

    low: float | None = None
    high: float | None = None

    def __bool__(self) -> bool:
        return self.low is not None or self.high is not None


ANY = Span()


@dataclass(frozen=True, slots=True)
class UnderstoodFilter:
    """A filter that the words of a search mean, by which it is answered though no address names it. `label` and `shown`
    name it to people; `values` or a `span`."""

    facet_id: str
    label: str
    shown: str
    values: tuple[str, ...] = ()
    span: Span = ANY


@dataclass(frozen=True, slots=True)
class ListingRequest:
    """The parameters of a request for a listing.

    `values` and `spans` are the filters chosen, by facet id in order; the price is in minor units.
    `sort` and `page_size` None are the defaults. `words_alone` continues a search whose first page was ranked without
    the meaning of its words, and `draft` one whose first page was interleaved from two orders, so that no product is
    lost or repeated between its pages. `understood` are filters that the words mean: they are among the filters, but
    not in the address; one that was cleared is there as `kept_words`, the facets whose words stay words. `filter_words`
    are facets chosen because the words were offered as their filter; it counts only while something of them is chosen.
    `unknown` are parameters that mean nothing here: they filter nothing and stay in the links. `given` names every
    parameter of the address that does not only track, a valid page number left out; requests that differ in it alone
    are equal.
    """

    path: str
    values: Values = ()
    spans: tuple[tuple[str, Span], ...] = ()
    price: Span = ANY
    words: str = ""
    sort: Sort | None = None
    page_size: int | None = None
    page: int = 1
    words_alone: bool = False
    draft: DraftKey | None = None
    kept_words: tuple[str, ...] = ()
    filter_words: tuple[str, ...] = ()
    understood: tuple[UnderstoodFilter, ...] = ()
    unknown: Values = ()
    currency: str = "gbp"
    given: tuple[str, ...] = field(default=(), compare=False)

    @property
    def default_order(self) -> Sort:
        return Sort.RELEVANCE if self.words else Sort.FEATURED

    @property
    def order(self) -> Sort:
        return self.sort or self.default_order

    @property
    def is_filtered(self) -> bool:
        return bool(self.values or self.spans or self.price)

    def chosen(self, facet_id: str) -> tuple[str, ...]:
        return next((values for name, values in self.values if name == facet_id), ())

    def span(self, facet_id: str) -> Span:
        if facet_id == PRICE:
            return self.price
        return next((span for name, span in self.spans if name == facet_id), ANY)

    def is_understood(self, facet_id: str) -> bool:
        """Whether a facet is filtered by as the words of the search say, and not otherwise."""
        return any(one.facet_id == facet_id and self._has(one) for one in self.understood)

    def _has(self, one: UnderstoodFilter) -> bool:
        return self.chosen(one.facet_id) == one.values and self.span(one.facet_id) == one.span

    def with_understood(self, filters: Sequence[UnderstoodFilter]) -> ListingRequest:
        """Return this request with the filters that its words mean; those that the shopper chose stay."""
        made = self
        for one in filters:
            if self.chosen(one.facet_id) or self.span(one.facet_id):
                continue
            if one.values:
                made = replace(made, values=tuple(sorted((*made.values, (one.facet_id, one.values)))))
            elif one.facet_id == PRICE:
                made = replace(made, price=one.span)
            else:
                made = replace(made, spans=tuple(sorted((*made.spans, (one.facet_id, one.span)), key=_first_of)))
        return replace(made, understood=tuple(filters))

    def url(self) -> str:
        """The address of this request, the same for every request that is equal to it."""
        query = urlencode([*self._facet_pairs(), *self._rest_pairs()])
        return f"{quote(self.path)}?{query}" if query else quote(self.path)

    def at_page(self, page: int) -> ListingRequest:
        return replace(self, page=page)

    def sorted_by(self, sort: Sort) -> ListingRequest:
        return replace(self, sort=None if sort is self.default_order else sort, page=1)

    def with_value(self, facet_id: str, value: str) -> ListingRequest:
        return self._choosing(facet_id, (*self.chosen(facet_id), value))

    def without_value(self, facet_id: str, value: str) -> ListingRequest:
        return self._choosing(facet_id, (kept for kept in self.chosen(facet_id) if kept != value))

    def toggled(self, facet_id: str, value: str) -> ListingRequest:
        """This request with a value chosen, or cleared where it is chosen."""
        if value in self.chosen(facet_id):
            return self.without_value(facet_id, value)
        return self.with_value(facet_id, value)

    def without(self, facet_id: str) -> ListingRequest:
        """This request with nothing chosen of one facet."""
        if facet_id == PRICE:
            return replace(self, price=ANY, page=1)
        spans = tuple((name, span) for name, span in self.spans if name != facet_id)
        return replace(self._choosing(facet_id, ()), spans=spans)

    def with_span(self, facet_id: str, span: Span) -> ListingRequest:
        """This request with a range of a facet's numbers chosen; not for the price."""
        others = [(name, kept) for name, kept in self.spans if name != facet_id]
        return replace(self, spans=tuple(sorted((*others, (facet_id, span)), key=lambda pair: pair[0])), page=1)

    def without_filters(self) -> ListingRequest:
        return replace(self, values=(), spans=(), price=ANY, unknown=(), page=1)

    def with_words(self, words: str) -> ListingRequest:
        """This request with other words, without the filters that its own words mean."""
        plain = self
        for one in self.understood:
            if self.is_understood(one.facet_id):
                plain = plain.without(one.facet_id)
        return replace(plain, words=words, page=1, words_alone=False, draft=None, kept_words=(), understood=())

    def with_filter_words(self, facet_id: str) -> ListingRequest:
        """This request with the words of a facet as its filter, which is chosen."""
        return replace(self, filter_words=tuple(sorted({*self.filter_words, facet_id})))

    def value_links(self, facet_id: str) -> Callable[[str], str]:
        """Return a function that makes the address of this request with a value of a facet toggled: what `toggled` and
        `url` give, faster, for pages with hundreds of such links."""
        if facet_id in self.filter_words or any(one.facet_id == facet_id for one in self.understood):
            return lambda value: self.toggled(facet_id, value).url()
        plain = self._choosing(facet_id, ())
        pairs = plain._facet_pairs()
        before = [pair for pair in pairs if pair[0] <= facet_id]
        after = [pair for pair in pairs if pair[0] > facet_id] + plain._rest_pairs()
        head, tail, name = urlencode(before), urlencode(after), _quoted(facet_id)
        path = quote(self.path)
        start = f"{path}?{head}&{name}=" if head else f"{path}?{name}="
        end = f"&{tail}" if tail else ""
        chosen = self.chosen(facet_id)

        def link(value: str) -> str:
            wanted = [kept for kept in chosen if kept != value] if value in chosen else sorted((*chosen, value))
            if wanted:
                return start + f"&{name}=".join(map(_quoted, wanted)) + end
            rest = "&".join(part for part in (head, tail) if part)
            return f"{path}?{rest}" if rest else path

        return link if chosen else lambda value: start + _quoted(value) + end

    def hidden_fields(self, *but: str) -> list[tuple[str, str]]:
        """Return the (name, value) pairs of this request that a form sends along in hidden fields: all but those named
        `but`, which it has as fields of its own."""
        first = self.at_page(1)
        return [(name, value) for name, value in first._facet_pairs() + first._rest_pairs() if name not in but]

    def _all_kept_words(self) -> list[str]:
        """Return the facets whose words stay words, with those whose understood filter was cleared."""
        names = (one.facet_id for one in self.understood)
        cleared = {name for name in names if not (self.chosen(name) or self.span(name))}
        return sorted(cleared.union(self.kept_words))

    def _choosing(self, facet_id: str, values: Iterable[str]) -> ListingRequest:
        others = [(name, kept) for name, kept in self.values if name != facet_id]
        wanted = tuple(sorted(set(values)))
        chosen = [*others, (facet_id, wanted)] if wanted else others
        return replace(self, values=tuple(sorted(chosen)), page=1)

    def _facet_pairs(self) -> list[tuple[str, str]]:
        in_words = {one.facet_id for one in self.understood if self._has(one)}
        chosen = [(name, values) for name, values in self.values if name not in in_words]
        pairs = [(name, value) for name, values in (*chosen, *self.unknown) for value in values]
        for facet_id, span in self.spans:
            if facet_id in in_words:
                continue
            pairs += _ends(f"{facet_id}_min", f"{facet_id}_max", span, number_text)
        return sorted(pairs)

    def _rest_pairs(self) -> list[tuple[str, str]]:
        price = ANY if self.is_understood(PRICE) else self.price
        pairs = _ends(PRICE_MIN, PRICE_MAX, price, lambda amount: price_text(amount, self.currency))
        if self.words:
            pairs.append(("q", self.words))
        if self.sort:
            pairs.append(("sort", self.sort.value))
        if self.page_size:
            pairs.append(("pageSizeOverride", str(self.page_size)))
        if self.words_alone:
            pairs.append((RANKED_BY, WORDS_ALONE))
        elif self.draft is not None:
            pairs.append((RANKED_BY, str(self.draft)))
        if self.words:
            pairs += [(KEPT_WORDS, facet_id) for facet_id in self._all_kept_words()]
            pairs += [(FILTER_WORDS, name) for name in self.filter_words if self.chosen(name) or self.span(name)]
        if self.page > 1:
            pairs.append(("p", str(self.page)))
        return pairs


def _first_of(pair: tuple[str, Span]) -> str:
    return pair[0]


def number_text(number: float) -> str:
    """A number as addresses and fields carry it: no exponent, no needless zeros."""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def price_text(amount: float, currency: str) -> str:
    """Minor units as addresses and fields carry them, in major units: 1000 pence is `10`, 1050 is `10.50`."""
    whole, _, part = decimal_text(round(amount), currency).partition(".")
    return f"{whole}.{part}" if part.strip("0") else whole


def _ends(low_name: str, high_name: str, span: Span, text: Callable[[float], str]) -> list[tuple[str, str]]:
    ends = ((low_name, span.low), (high_name, span.high))
    return [(name, text(end)) for name, end in ends if end is not None]


@lru_cache(maxsize=1 << 14)
def _quoted(text: str) -> str:
    return quote_plus(text)


@dataclass(frozen=True, slots=True)
class ListingGrammar:
    """The parameters that a site's listings understand besides those that every listing knows: the facets with values
    and those with numbers (price apart), the default page size, names that only track visitors."""

    value_facets: frozenset[str] = frozenset()
    number_facets: frozenset[str] = frozenset()
    page_size: int = 24
    currency: str = "gbp"
    extra_tracking: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        return is_listing_parameter(name, self.value_facets, self.number_facets)


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
    given: dict[str, list[str]] = {}
    for name, value in parameters:
        encodable = _encodable(name)
        if not is_tracking(encodable, grammar.extra_tracking):
            given.setdefault(encodable, []).append(_encodable(value))
    _check_size(given, grammar)

    values = [(name, tuple(sorted(set(given[name]) - {""}))) for name in given if name in grammar.value_facets]
    unknown = [(name, tuple(sorted(set(given[name])))) for name in given if not grammar.has(name)]
    price = _span(*(_amount(_first(given, name), grammar.currency) for name in (PRICE_MIN, PRICE_MAX)))
    words = request_words(given.get("q", ()))
    page = _page(given)
    spans = _spans(given, grammar)
    filtered = {*(name for name, chosen in values if chosen), *dict(spans)} | ({PRICE} if price else set())
    return ListingRequest(
        path=path,
        values=tuple(sorted((name, chosen) for name, chosen in values if chosen)),
        spans=spans,
        price=price,
        words=words,
        sort=_sort(given, words),
        page_size=_page_size(given, grammar.page_size),
        page=page or 1,
        words_alone=bool(words) and _first(given, RANKED_BY) == WORDS_ALONE,
        draft=DraftKey.read(_first(given, RANKED_BY)) if words else None,
        kept_words=_facet_names(given, KEPT_WORDS) if words else (),
        filter_words=tuple(name for name in _facet_names(given, FILTER_WORDS) if name in filtered) if words else (),
        unknown=tuple(sorted(unknown)),
        currency=grammar.currency,
        given=tuple(sorted(name for name in given if name != "p" or page is None)),
    )


def _encodable(text: str) -> str:
    """Return a text that a link can carry. Half of a surrogate pair cannot be written into a link again."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _check_size(given: Given, grammar: ListingGrammar) -> None:
    problems = []
    if len(given) > MOST_PARAMETERS:
        problems.append(Problem("too_many_parameters", f"An address carries at most {MOST_PARAMETERS} parameters."))
    for name, values in given.items():
        if len(name) > LONGEST_NAME and not grammar.has(name):
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


def _spans(given: Given, grammar: ListingGrammar) -> tuple[tuple[str, Span], ...]:
    facets = (_number_facet(name, grammar.value_facets, grammar.number_facets) for name in given)
    names = {facet_id for facet_id in facets if facet_id}
    numbers = {name: texts for name, texts in given.items() if name not in grammar.value_facets}
    spans = {name: _span(_number(numbers, f"{name}_min"), _number(numbers, f"{name}_max")) for name in names}
    return tuple(sorted((name, span) for name, span in spans.items() if span))


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


def _facet_names(given: Given, parameter: str) -> tuple[str, ...]:
    names = set(given.get(parameter, ())) - {""}
    return tuple(sorted(name for name in names if len(name) <= LONGEST_NAME))


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


def _number_facet(name: str, value_facets: Set[str], number_facets: Set[str]) -> str | None:
    """Return the numeric facet of which a parameter is the lower or upper end, None for another parameter. A facet with
    values whose own id looks like an end comes first."""
    if name in value_facets or not name.endswith(("_min", "_max")):
        return None
    facet_id = name[:-4]
    return facet_id if facet_id in number_facets else None


def search_request(
    request: ListingRequest,
    page_size: int,
    filters: Sequence[Filter] = (),
    scope: tuple[ValueFilter, ...] = (),
    first: tuple[str, ...] = (),
    last: tuple[str, ...] = (),
) -> SearchRequest:
    """Return the request to the engine, with the counts of the filters. `page_size` is the site's, for requests that
    choose none."""
    ranges = [RangeFilter(facet_id, span.low, span.high) for facet_id, span in request.spans]
    if request.price:
        ranges.append(RangeFilter(PRICE, request.price.low, request.price.high))
    return SearchRequest(
        words=request.words,
        scope=scope,
        filters=tuple(ValueFilter(name, values) for name, values in request.values),
        ranges=tuple(ranges),
        facets=tuple(one.facet_id for one in filters if one.display is not Display.RANGE),
        range_facets=tuple(one.facet_id for one in filters if one.display is Display.RANGE),
        sort=request.order,
        first=first,
        last=last,
        page=request.page,
        per_page=request.page_size or page_size,
        fresh=not request.words,  # Lists without words are cached by the index's version, and must be as new.
    )

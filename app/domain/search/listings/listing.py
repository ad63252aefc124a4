"""One typed request for every listing: parsed once, it feeds the filter, the links and the page's head.

The grammar of a listing's address is in one place, here: `<facetId>=<value>` repeated for several values,
`<facetId>_min` and `<facetId>_max` for numbers, `price_min` and `price_max` in major units, `q`, `sort`,
`pageSizeOverride`, `_by` and `p`, emitted in that order. Defaults and tracking parameters are never emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import quote, quote_plus, urlencode

from app.domain.search.engine import RangeFilter, SearchRequest, Sort, ValueFilter
from app.domain.shared.money import decimal_text

PRICE = "price"
PRICE_MIN, PRICE_MAX = "price_min", "price_max"
RANKED_BY, WORDS_ALONE = "_by", "words"  # No attribute's id begins like this.

Values = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Span:
    """The ends of a range that a shopper chose; None is open."""

    low: float | None = None
    high: float | None = None

    def __bool__(self) -> bool:
        return self.low is not None or self.high is not None


ANY = Span()


@dataclass(frozen=True, slots=True)
class ListingRequest:
    """The parameters of a request for a listing.

    `values` and `spans` are the filters chosen, by facet id in order; the price is in minor units.
    `sort` and `page_size` None are the defaults. `words_alone` continues a search whose first page was ranked without
    the meaning of its words, so that no product is lost or repeated between its pages. `unknown` are parameters that
    mean nothing here: they filter nothing and stay in the links. `given` names every parameter of the address that does
    not only track, a valid page number left out; requests that differ in it alone are equal.
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

    def url(self) -> str:
        """The address of this request, the same for every request that is equal to it."""
        return _address(self.path, [*self._facet_pairs(), *self._rest_pairs()])

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
        return replace(self, words=words, page=1, words_alone=False)

    def value_links(self, facet_id: str) -> Callable[[str], str]:
        """Return a function that makes the address of this request with a value of a facet toggled: what `toggled` and
        `url` give, faster, for pages with hundreds of such links."""
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

    def _choosing(self, facet_id: str, values: Iterable[str]) -> ListingRequest:
        others = {name: kept for name, kept in self.values if name != facet_id}
        wanted = tuple(sorted(set(values)))
        return replace(self, values=_in_order({**others, facet_id: wanted} if wanted else others), page=1)

    def _facet_pairs(self) -> list[tuple[str, str]]:
        pairs = [(name, value) for name, values in (*self.values, *self.unknown) for value in values]
        for facet_id, span in self.spans:
            pairs += _ends(f"{facet_id}_min", f"{facet_id}_max", span, number_text)
        return sorted(pairs)

    def _rest_pairs(self) -> list[tuple[str, str]]:
        pairs = _ends(PRICE_MIN, PRICE_MAX, self.price, lambda amount: price_text(amount, self.currency))
        if self.words:
            pairs.append(("q", self.words))
        if self.sort:
            pairs.append(("sort", self.sort.value))
        if self.page_size:
            pairs.append(("pageSizeOverride", str(self.page_size)))
        if self.words_alone:
            pairs.append((RANKED_BY, WORDS_ALONE))
        if self.page > 1:
            pairs.append(("p", str(self.page)))
        return pairs


def search_request(
    request: ListingRequest,
    page_size: int,
    scope: tuple[ValueFilter, ...] = (),
    facets: tuple[str, ...] = (),
    range_facets: tuple[str, ...] = (),
    first: tuple[str, ...] = (),
) -> SearchRequest:
    """Return the request to the engine. `page_size` is the site's, for requests that choose none."""
    ranges = [RangeFilter(facet_id, span.low, span.high) for facet_id, span in request.spans]
    if request.price:
        ranges.append(RangeFilter(PRICE, request.price.low, request.price.high))
    return SearchRequest(
        words=request.words,
        scope=scope,
        filters=tuple(ValueFilter(name, values) for name, values in request.values),
        ranges=tuple(ranges),
        facets=facets,
        range_facets=range_facets,
        sort=request.order,
        first=first,
        page=request.page,
        per_page=request.page_size or page_size,
        fresh=not request.words,  # Lists without words are cached by the index's version, and must be as new.
    )


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


def _in_order(values: dict[str, tuple[str, ...]]) -> Values:
    return tuple(sorted(values.items()))


def _address(path: str, pairs: list[tuple[str, str]]) -> str:
    query = urlencode(pairs)
    return f"{quote(path)}?{query}" if query else quote(path)


@lru_cache(maxsize=1 << 14)
def _quoted(text: str) -> str:
    return quote_plus(text)


OwnAddress = Callable[[ListingRequest], str | None]


def no_own_address(_request: ListingRequest) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class ListingLinks:
    """`own_address` returns the address of the page that a request has for itself, None for most. `path` is that of the
    page on which the links stand."""

    path: str
    own_address: OwnAddress = no_own_address

    def to(self, request: ListingRequest) -> str:
        return self.own_address(request) or request.url()

    def own_page_of_value(self, request: ListingRequest, facet_id: str, value: str) -> str | None:
        """Return the address of the page that a request has for itself with a value toggled, None for most. Asked for
        each value of each filter, most of which stand on pages without such addresses."""
        if self.own_address is no_own_address:
            return None
        return self.own_address(request.toggled(facet_id, value))

    def stays(self, address: str) -> bool:
        """Whether an address is of the page itself, so that its listing can be exchanged in place."""
        return address.partition("?")[0] == self.path

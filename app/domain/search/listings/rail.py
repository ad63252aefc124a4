"""The parts beside and above a listing: filters with their counts, sliders for ranges, chips for what is chosen, the
pager."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from app.domain.merchandising.facets import Filter, colour_of
from app.domain.merchandising.tree import Display
from app.domain.search.engine import RangeCount, SearchResult
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import (
    MOST_VALUES,
    PRICE,
    PRICE_MAX,
    PRICE_MIN,
    ListingRequest,
    Span,
    number_text,
    price_text,
)
from app.domain.search.serving.rules import SEARCH_PATH
from app.domain.shared.money import decimals, format_money
from app.domain.taxonomy.values import with_unit

MOST_STEPS = 100
FEWEST_STEPS = 4  # With fewer, the two boxes are as quick.
ROUND_STEPS = (Decimal(1), Decimal(2), Decimal(5))
FINEST_NUMBER = Decimal("0.000001")  # As finely as addresses carry numbers.
STARS = (4, 3, 2, 1)
MOST_CHOICES = 500  # Values of one filter that a page offers; the shopper's own are always among them.
SHOWN_AT_FIRST = 10  # The others of a filter are there too, and unfold.
RATING = "rating"
YES = "true"


@dataclass(frozen=True, slots=True)
class Slider:
    """The scale of a slider with two handles, and where these stand."""

    lowest: str
    highest: str
    step: str
    low: str
    high: str


def slider(
    lowest: Decimal, highest: Decimal, low: Decimal | None, high: Decimal | None, finest: Decimal
) -> Slider | None:
    """Return the slider of numbers between `lowest` and `highest`, which are moved out to whole steps; its handles
    stand at `low` and `high`, None at the end. No step is finer than `finest`. None where there is little to slide."""
    step = _slider_step(lowest, highest, finest)
    start, end = _whole_steps(lowest, step, ROUND_FLOOR), _whole_steps(highest, step, ROUND_CEILING)
    if end - start < FEWEST_STEPS * step:
        return None
    handles = (start if low is None else low, end if high is None else high)
    at_low, at_high = (min(max(handle, start), end) for handle in handles)
    return Slider(*map(_decimal_text, (start, end, step, at_low, at_high)))


def stars_and_up(lowest: float | None, highest: float | None) -> Sequence[int]:
    """Return the numbers of stars from which a rating can begin, the highest first: those that leave some products
    out and keep some."""
    if lowest is None or highest is None:
        return ()
    return [stars for stars in STARS if lowest < stars <= highest]


def _slider_step(lowest: Decimal, highest: Decimal, finest: Decimal) -> Decimal:
    """The finest of 1, 2, 5, 10, 20, ... that cuts the range into few enough steps. Whole numbers are not cut."""
    span = highest - lowest
    least = max(span / MOST_STEPS, finest)
    if span >= FEWEST_STEPS and lowest == int(lowest) and highest == int(highest):
        least = max(least, Decimal(1))
    power = Decimal(10) ** least.adjusted()
    return next((unit * power for unit in ROUND_STEPS if unit * power >= least), 10 * power)


def _whole_steps(number: Decimal, step: Decimal, rounding: str) -> Decimal:
    return (number / step).to_integral_value(rounding) * step


def _decimal_text(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True, slots=True)
class ValueLink:
    """The link of a filter's value. `toggle_url` chooses the value, or clears it where it is chosen; `url` leads to the
    same products, at the address of their own page where `has_page`. Search engines follow to the page of a value from
    an unfiltered list alone (`is_followed`). `colour` is `#rrggbb` or None; `count` is None where it is not counted."""

    value: str
    label: str
    count: int | None
    chosen: bool
    url: str
    toggle_url: str
    has_page: bool = False
    is_followed: bool = False
    colour: str | None = None

    @property
    def count_text(self) -> str:
        return "" if self.count is None else f"{self.count:,}"


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a range as fields: names, what is typed, and the bounds as hints. Texts, in major units."""

    low_name: str
    high_name: str
    low: str
    high: str
    lowest: str
    highest: str


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """One filter of the rail. `values` counts its values, of which `choices` offers MOST_CHOICES. `ends`,
    `slider`, `unit` and `hidden` (what its form sends along) only for a range; ratings are a range with choices
    instead, of which one can be chosen. `most` values can be chosen at once."""

    facet_id: str
    label: str
    display: Display
    choices: tuple[ValueLink, ...] = ()
    ends: Ends | None = None
    slider: Slider | None = None
    hidden: tuple[tuple[str, str], ...] = ()
    unit: str | None = None
    values: int = 0
    most: int = MOST_VALUES

    @property
    def is_rating(self) -> bool:
        return self.facet_id == RATING

    @property
    def is_long(self) -> bool:
        return len(self.choices) > SHOWN_AT_FIRST

    @property
    def is_full(self) -> bool:
        """Whether as many values are chosen as an address carries, so that no other one can be."""
        return sum(choice.chosen for choice in self.choices) >= self.most

    @property
    def show_all_text(self) -> str:
        """The label of the button that unfolds a long filter."""
        is_whole = self.values <= len(self.choices)
        return f"Show all {self.values:,}" if is_whole else f"Show the first {len(self.choices):,} of {self.values:,}"

    @property
    def is_chosen(self) -> bool:
        return any(choice.chosen for choice in self.choices) or bool(self.ends and (self.ends.low or self.ends.high))


@dataclass(frozen=True, slots=True)
class Chip:
    """A chosen value, range or search; its link clears it."""

    label: str
    text: str
    url: str


def groups(
    filters: Iterable[Filter], request: ListingRequest, result: SearchResult, links: ListingLinks
) -> tuple[FilterGroup, ...]:
    """Return the filters that have something to choose here, or to clear."""
    made = []
    for filter in filters:
        facet_id = filter.facet_id
        if facet_id == RATING:
            group = _rating_group(filter, request, result.ranges.get(RATING), links)
        elif filter.display is Display.RANGE:
            group = _range_group(filter, request, result.ranges.get(facet_id))
        else:
            group = _choice_group(filter, request, result.facets.get(facet_id, ()), links)
        if group is not None:
            made.append(group)
    return tuple(made)


def chips(filters: Iterable[Filter], request: ListingRequest, links: ListingLinks) -> tuple[Chip, ...]:
    """Return a chip for each filter that the words of a search mean, then for each value and range chosen, in the order
    of the address. Words have one within a category; on the search page they are the query itself."""
    in_words = [one for one in request.understood if request.is_understood(one.facet_id)]
    named = {one.facet_id for one in in_words}
    made = [Chip(one.label, one.shown, links.to(request.without(one.facet_id))) for one in in_words]
    return (*made, *_chosen_chips(filters, request, links, named))


def _chosen_chips(
    filters: Iterable[Filter], request: ListingRequest, links: ListingLinks, but: Collection[str]
) -> tuple[Chip, ...]:
    known = {filter.facet_id: filter for filter in filters}
    labels = {name: filter.label for name, filter in known.items()}
    made = [
        Chip(labels.get(name, name), "yes" if value == YES else value, links.to(request.without_value(name, value)))
        for name, values in request.values
        for value in values
        if name not in but
    ]
    spans = [pair for pair in (*request.spans, (PRICE, request.price)) if pair[0] not in but]
    made += [
        Chip(labels.get(name, name), _span_text(known.get(name), name, span, request), links.to(request.without(name)))
        for name, span in spans
        if span
    ]
    if request.words and request.path != SEARCH_PATH:
        made.append(Chip("Words", request.words, links.to(request.with_words(""))))
    return tuple(made)


def pages(current: int, last: int) -> tuple[int | None, ...]:
    """Page numbers for a pager: the ends and the neighbours, None for a gap."""
    near = sorted({1, last, *range(max(1, current - 1), min(last, current + 1) + 1)})
    numbers: list[int | None] = []
    for page in near:
        if numbers and page - (numbers[-1] or 0) > 1:
            numbers.append(page - 1 if page - (numbers[-1] or 0) == 2 else None)
        numbers.append(page)
    return tuple(numbers)


def _choice_group(
    filter: Filter, request: ListingRequest, counts: Sequence[tuple[str, int]], links: ListingLinks
) -> FilterGroup | None:
    chosen = request.chosen(filter.facet_id)
    counted = sum(1 for _, count in counts if count)
    toggle = request.value_links(filter.facet_id)
    if filter.display is Display.TOGGLE:
        chosen, counts = chosen and (YES,), tuple(pair for pair in counts if pair[0] == YES)
    offered = {value: count for value, count in counts[:MOST_CHOICES] if count}
    known = dict(counts)
    offered |= {value: known.get(value, 0) for value in chosen}

    def choice(value: str, count: int) -> ValueLink:
        own, toggle_url = links.own_page_of_value(request, filter.facet_id, value), toggle(value)
        return ValueLink(
            value=value,
            label=filter.label if filter.display is Display.TOGGLE else value,
            count=count,
            chosen=value in chosen,
            url=own or toggle_url,
            toggle_url=toggle_url,
            has_page=own is not None,
            is_followed=own is not None and "?" not in own and not request.is_filtered,
            colour=colour_of(value, filter.swatches) if filter.display is Display.SWATCH else None,
        )

    choices = tuple(choice(value, count) for value, count in offered.items())
    values = max(len(choices), counted)
    return FilterGroup(filter.facet_id, filter.label, filter.display, choices, values=values) if choices else None


def _rating_group(
    filter: Filter, request: ListingRequest, counted: RangeCount | None, links: ListingLinks
) -> FilterGroup | None:
    chosen = request.span(RATING)
    offered = set(stars_and_up(counted.low, counted.high)) if counted else set()
    if chosen.high is None and chosen.low in STARS:
        offered.add(int(chosen.low))

    def choice(stars: int) -> ValueLink:
        is_chosen = chosen == Span(float(stars))
        plain = request.without(RATING)
        toggled = plain if is_chosen else plain.with_span(RATING, Span(float(stars)))
        url, toggle_url = links.to(toggled), toggled.url()
        label = f"{stars} {'star' if stars == 1 else 'stars'} and up"
        return ValueLink(str(stars), label, None, is_chosen, url, toggle_url, has_page=url != toggle_url)

    choices = tuple(choice(stars) for stars in sorted(offered, reverse=True))
    return FilterGroup(RATING, filter.label, filter.display, choices, values=len(choices)) if choices else None


def _range_group(filter: Filter, request: ListingRequest, counted: RangeCount | None) -> FilterGroup | None:
    span = request.span(filter.facet_id)
    spans_something = counted is not None and counted.low is not None and counted.low != counted.high
    if not span and not spans_something:
        return None
    names = (PRICE_MIN, PRICE_MAX) if filter.facet_id == PRICE else (f"{filter.facet_id}_min", f"{filter.facet_id}_max")
    ends = Ends(
        *names,
        low=_end_text(filter.facet_id, span.low, request),
        high=_end_text(filter.facet_id, span.high, request),
        lowest=_end_text(filter.facet_id, counted.low if counted else None, request),
        highest=_end_text(filter.facet_id, counted.high if counted else None, request),
    )
    hidden = tuple(request.hidden_fields(*names))
    scale = _range_slider(filter.facet_id, ends, request) if spans_something else None
    return FilterGroup(
        filter.facet_id, filter.label, Display.RANGE, ends=ends, slider=scale, hidden=hidden, unit=filter.unit
    )


def _range_slider(facet_id: str, ends: Ends, request: ListingRequest) -> Slider | None:
    low, high = (Decimal(end) if end else None for end in (ends.low, ends.high))
    finest = Decimal(10) ** -decimals(request.currency) if facet_id == PRICE else FINEST_NUMBER
    return slider(Decimal(ends.lowest), Decimal(ends.highest), low, high, finest)


def _end_text(facet_id: str, end: float | None, request: ListingRequest) -> str:
    if end is None:
        return ""
    return price_text(end, request.currency) if facet_id == PRICE else number_text(end)


def _span_text(filter: Filter | None, facet_id: str, span: Span, request: ListingRequest) -> str:
    low, high = (_end_words(facet_id, end, request) for end in (span.low, span.high))
    unit = filter.unit if filter else None
    if facet_id == RATING and span.high is None:
        return f"{low} {'star' if low == '1' else 'stars'} and up"
    if span.low is None:
        return f"up to {with_unit(high, unit)}"
    return f"from {with_unit(low, unit)}" if span.high is None else with_unit(f"{low} – {high}", unit)


def _end_words(facet_id: str, end: float | None, request: ListingRequest) -> str:
    if end is None:
        return ""
    return format_money(round(end), request.currency) if facet_id == PRICE else number_text(end)

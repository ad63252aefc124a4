"""Bodies of searches, made from the shop's ranking policy: which documents, with which scores, in which order, and the
counts beside them. Pure.

Scores are made in three stages. `word_scores` are what the words score, alone; `lifted` multiplies them by what the
kind of product, sales, newness, stock and clicks count; `demoted` brings the tiers of documents with less of the words
below those with more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.adapters.opensearch.mapping import PRICE, Body, field_of, numbers_field, values_field
from app.adapters.opensearch.matches import Holders, UnitMatch, Word, term
from app.domain.search.engine import MOST_FACET_VALUES, PlacedGroup, RangeFilter, SearchRequest, Sort, ValueFilter
from app.domain.search.ranking.query import Query
from app.domain.search.ranking.scoring import (
    BEST_BY_WORDS,
    CODE_WEIGHT,
    CREATED,
    FEW_SHARE,
    FIELDS,
    FIRST_RESULTS,
    KIND,
    LIFT_BY_NAME,
    LOW_STOCK,
    NEW_DAYS,
    OFFSET,
    PHRASE_WEIGHT,
    SALES,
    SECONDS_A_DAY,
    Phrase,
    demotion,
    group_tiers,
)
from app.domain.search.ranking.spelling import NAMES_CONSULTED
from app.domain.search.sentence_model import Vectors
from app.domain.search.text import MAX_WORD_LENGTH, joined

MOST_CLAUSES = 800  # A cluster refuses a query of more than 1,024, with what stands around the words.
TIER = 256  # More than the points of any document, and exact in the cluster's scores.
EVERYTHING: Body = {"match_all": {}}
# One source for every request, so that the cluster compiles it once.
_LIFTS = f"""
double score = _score;
if (params.named != null && doc['phrases'].contains(params.named)) {{
  score *= {LIFT_BY_NAME};
}} else if (params.levels != null && params.levels.containsKey(doc['kind'].value)) {{
  score *= params.levels[doc['kind'].value];
}}
if (params.most_sold > 0 && doc['{numbers_field(SALES)}'].size() > 0) {{
  score *= 1 + params.sales * Math.log1p(doc['{numbers_field(SALES)}'].value) / params.most_sold;
}}
if (params.newness > 0 && doc['{numbers_field(CREATED)}'].size() > 0) {{
  double days = params.day - Math.floor(doc['{numbers_field(CREATED)}'].value / {SECONDS_A_DAY});
  score *= 1 + params.newness * Math.pow(0.5, Math.max(days, 0) / {NEW_DAYS});
}}
if (params.stock > 0 && doc['is_sold'].value) {{
  score *= 1 + params.stock * (doc['{numbers_field(LOW_STOCK)}'].size() > 0 ? {FEW_SHARE} : 1);
}}
if (params.documents != null && params.documents.containsKey(doc['id'].value)) {{
  score *= params.documents[doc['id'].value];
}}
if (params.learned_levels != null) {{
  double most = 0;
  for (level in doc['{values_field(KIND)}']) {{
    if (params.learned_levels.containsKey(level)) {{ most = Math.max(most, params.learned_levels[level]); }}
  }}
  if (most > 0) {{ score *= most; }}
}}
return score;
"""
_POINTS = f"""
double points = {BEST_BY_WORDS * OFFSET} / ({OFFSET} + params.ranked + (1 - _score / params.least)
  * (params.count - params.ranked)) * params.share;
if (params.points.containsKey(doc['id'].value)) {{ points = params.points[doc['id'].value]; }}
for (tier in params.tiers) {{ if (_score >= tier) {{ points += {TIER}; }} }}
return points;
"""
_PLACE = "params.places.containsKey(doc['id'].value) ? params.places[doc['id'].value] : params.behind"
_GROUP = """
for (group in params.groups) {
  boolean belongs = true;
  for (wanted in group.values) {
    boolean carries = false;
    if (doc.containsKey(wanted.field)) {
      for (value in doc[wanted.field]) { if (wanted.values.contains(value)) { carries = true; } }
    }
    if (carries == wanted.lacks) { belongs = false; }
  }
  for (wanted in group.ranges) {
    if (!doc.containsKey(wanted.field) || doc[wanted.field].size() == 0) {
      belongs = false;
    } else {
      double number = doc[wanted.field].value;
      if ((wanted.low != null && number < wanted.low) || (wanted.high != null && number > wanted.high)) {
        belongs = false;
      }
    }
  }
  if (group.tier < params.ordinary && params.alone.containsKey(doc['id'].value)) { belongs = false; }
  if (belongs) { return group.tier; }
}
return params.ordinary;
"""
_TIER = "(params.ids.contains(doc['id'].value) == params.lack ? 2 : 0) + (doc['is_sold'].value ? 0 : 1)"


@dataclass(frozen=True, slots=True)
class Tier:
    """Documents that have `count` of the required words (None: all that are found) and lack the words themselves of
    `missing` units, for which they have alternatives alone. They fit `condition` and none of `above`, as documents of
    the tiers above do."""

    count: int | None
    missing: int
    condition: Body
    above: Sequence[Body] = ()


@dataclass(frozen=True, slots=True)
class Unlike:
    """Where some documents lack words that others have: the `ids` of those that `lack` some, or of those that have
    all."""

    ids: Collection[str]
    lack: bool


def added(words: Body, ids: Iterable[str]) -> Body:
    """Return a query that finds documents beside those of another query, and adds nothing to scores."""
    return {"bool": {"should": [words, {"constant_score": {"filter": one_of(ids), "boost": 0}}]}}


def one_of(ids: Iterable[str]) -> Body:
    return {"terms": {"id": sorted(set(ids))}}


def carries(wanted: ValueFilter) -> Body:
    return {"terms": {values_field(wanted.name): list(wanted.values)}}


def lies_in(wanted: RangeFilter) -> Body:
    ends = {"gte": wanted.low, "lte": wanted.high}
    return {"range": {numbers_field(wanted.name): {end: at for end, at in ends.items() if at is not None}}}


def all_of(conditions: Sequence[Body]) -> Body:
    return {"bool": {"filter": list(conditions)}} if conditions else EVERYTHING


def conditions(scope: Sequence[ValueFilter]) -> list[Body]:
    return [carries(wanted) for wanted in scope]


def matching(scope: Sequence[ValueFilter], query: Body) -> Body:
    """Return a query within a scope, with its scores."""
    return {"bool": {"must": [query], "filter": conditions(scope)}}


def having(units: Sequence[UnitMatch], query: Query, least: int | None = None) -> Body:
    """Return the condition of documents that have at least so many of the required units; None for all of them."""
    required = [units[place].match.condition() for place in query.required([unit.words for unit in units])]
    return _at_least(required, len(required) if least is None else least)


def _at_least(conditions: Sequence[Body], least: int) -> Body:
    if least == len(conditions):
        return all_of(conditions)
    return {"bool": {"should": list(conditions), "minimum_should_match": least}} if least else EVERYTHING


def word_scores(query: Query, units: Sequence[UnitMatch], holders: Holders, fewest: int | None) -> Body:
    """Return the query for the documents that have all required units, or at least `fewest` of them, by which the
    scores count less: with what the words score together, side by side in the name and as a code. Where it would be
    longer than a cluster takes, other readings than the words themselves score all alike."""
    required = set(query.required([unit.words for unit in units]))
    scored = [unit.match.scored(holders) for unit in units]
    if clauses(scored) > MOST_CLAUSES:
        scored = [unit.match.scored_briefly(holders) for unit in units]
    must = [scored[place] for place in sorted(required)]
    others = [body for place, body in enumerate(scored) if place not in required]
    if fewest is None:
        return {"bool": {"must": must, "should": [*others, *_bonuses(query)]}}
    some = {"bool": {"should": must, "minimum_should_match": fewest}}
    shares = [
        {"filter": having(units, query, count), "weight": (count / len(units)) ** 2}
        for count in range(len(required), fewest - 1, -1)
    ]
    return {
        "bool": {"must": [_weighed({"bool": {"must": [some], "should": others}}, shares)], "should": _bonuses(query)}
    }


def clauses(part: object) -> int:
    """Return how many terms a query names; many terms of one field that score nothing count as one."""
    if isinstance(part, dict):
        return sum(1 if key in ("term", "terms") else clauses(inner) for key, inner in part.items())
    return sum(map(clauses, part)) if isinstance(part, list) else 0


def shortened(query: Query, units: Sequence[UnitMatch]) -> tuple[UnitMatch, ...]:
    """Return what the units match with fewer alternatives, where those of all are more than a cluster takes."""
    most = max((len(unit.alternatives) for unit in units), default=0)
    while most and clauses(having(units, query, 1)) > MOST_CLAUSES:
        most //= 2
        units = [unit.cut(most) for unit in units]
    return tuple(units)


def _bonuses(query: Query) -> list[Body]:
    pairs = [term(field_of("pairs"), first + second, PHRASE_WEIGHT) for first, second in pairwise(query.words)]
    whole = joined(query.words)
    return [*pairs, term(field_of("codes"), whole, CODE_WEIGHT)] if len(whole) <= MAX_WORD_LENGTH else pairs


def _weighed(query: Body, functions: Sequence[Body]) -> Body:
    """Return a query with the weight of the first function that a document fits."""
    kinds = {"score_mode": "first", "boost_mode": "multiply"}
    return {"function_score": {"query": query, "functions": list(functions), **kinds}}


def first_results(scope: Sequence[ValueFilter], scored: Body, names: Sequence[Phrase]) -> Body:
    """Return the search for how many documents there are, the kinds of the first ones, and whether some have a name."""
    named = {str(place): {"filter": {"term": {"phrases": " ".join(name)}}} for place, name in enumerate(names)}
    return {
        "query": matching(scope, scored),
        "size": FIRST_RESULTS,
        "track_total_hits": True,
        "_source": False,
        "docvalue_fields": ["id", "kind"],
        "sort": [{"_score": "desc"}, {"id": "asc"}],
        "track_scores": True,
        "aggs": named,
    }


def names_with(word: str) -> Body:
    """Return the search for the names of the documents in which a word scores best."""
    return {
        "query": Word(word).scored(lambda _: FIELDS),
        "size": NAMES_CONSULTED,
        "_source": False,
        "docvalue_fields": ["name"],
    }


def lifted(scored: Body, lifts: Mapping[str, object]) -> Body:
    """Return a query with its scores lifted. `lifts` are `named` (a phrase), `levels` (factors by kind), `most_sold`,
    `sales`, `newness`, `stock`, `day`, `documents` and `learned_levels` (factors)."""
    return {"script_score": {"query": scored, "script": {"source": _LIFTS, "params": dict(lifts)}}}


def tiers_of(query: Query, units: Sequence[UnitMatch], fewest: int | None) -> list[Tier]:
    """Return the tiers of what is found, highest first; none where all documents are alike."""
    own = [unit.own.condition() for unit in units if unit.own is not None]
    if not own:
        return []
    most = len(query.required([unit.words for unit in units]))
    counts = [None] if fewest is None else list(range(most, fewest - 1, -1))
    tiers = []
    for count in counts:
        enough = [] if count is None else [having(units, query, count)]
        more = [] if count in (None, most) else [having(units, query, (count or 0) + 1)]
        for missing in range(len(own) + 1):
            above = [*more, *([_at_least(own, len(own) - missing + 1)] if missing else [])]
            tiers.append(Tier(count, missing, all_of([_at_least(own, len(own) - missing), *enough]), above))
    return tiers


def has_code(code: str) -> Body:
    return all_of([{"term": {"codes": code}}])


def models() -> Body:
    """Return the search for how many documents there are and how many have vectors, by the model that made them."""
    return {"size": 0, "track_total_hits": True, "aggs": {"models": {"terms": {"field": "model"}}}}


def nearest(vector: Vectors, conditions: Sequence[Body], most: int) -> Body:
    """Return the search for the nearest of the documents that fit the conditions."""
    near = {"vector": vector.tolist(), "k": most, **({"filter": all_of(conditions)} if conditions else {})}
    return with_scores({"knn": {"vector": near}}, most)


def with_scores(query: Body, most: int) -> Body:
    """Return the search for the ids and the scores of the best documents."""
    fields = {"_source": False, "docvalue_fields": ["id"]}
    return {"query": query, "size": most, **fields, "sort": [{"_score": "desc"}, {"id": "asc"}], "track_scores": True}


def fused(scored: Body, params: Mapping[str, object]) -> Body:
    """Return a query whose scores are points: those that `points` has by id, or a `share` of those by the estimated
    rank by words, and TIER more for each of `tiers` that a score reaches."""
    return {"script_score": {"query": scored, "script": {"source": _POINTS, "params": dict(params)}}}


def extremes(scope: Sequence[ValueFilter], scored: Body, tiers: Sequence[Tier], full: Sequence[str]) -> Body:
    """Return the search for the least and the highest score of each tier, apart for the documents `full` and for
    others."""
    ends = {"low": {"min": {"script": "_score"}}, "high": {"max": {"script": "_score"}}}
    parts = {"full": one_of(full), "others": {"bool": {"must_not": [one_of(full)]}}}
    inner = {"parts": {"filters": {"filters": parts}, "aggs": ends}}
    aggs = {
        str(place): {
            "filter": tier.condition,
            # A filter of its own, since the conditions of both may be as long as a cluster takes.
            "aggs": {"alone": {"filter": {"bool": {"must_not": list(tier.above)}}, "aggs": inner}},
        }
        for place, tier in enumerate(tiers)
    }
    return {"query": matching(scope, scored), "size": 0, "aggs": aggs}


def demoted(scored: Body, tiers: Sequence[tuple[Body, float]]) -> Body:
    """Return a query with its scores brought down by the factor of the first condition that a document fits."""
    if all(factor == 1.0 for _, factor in tiers):
        return scored
    return _weighed(scored, [{"filter": condition, "weight": factor} for condition, factor in tiers])


Ends = tuple[float, float]  # The least and the highest score of a tier.


def demotions(tiers: Sequence[Ends | None]) -> list[float]:
    """Return the factor of each tier, highest tier first, by which each stands above the next; None is an empty one."""
    factors = [1.0] * len(tiers)
    for level in range(1, len(tiers)):
        above = [ends[0] * factor for ends, factor in zip(tiers[:level], factors, strict=False) if ends]
        below = [ends[1] * factor for ends, factor in zip(tiers[level:], factors[level:], strict=True) if ends]
        if above and below:
            down = demotion(max(below), min(above))
            factors[level:] = [factor * down for factor in factors[level:]]
    return factors


def order_of(
    request: SearchRequest, unlike: Unlike | None, alone: Collection[str] = (), *, by_score: bool
) -> list[Body]:
    """Return the keys of the order where nothing is placed. `unlike` says which documents lack words, None where all
    are alike; `alone` are those that are found by their meaning alone, which no group boosts. Equal documents stand by
    their id, on every page."""
    tie = {"id": "asc"}
    match request.sort:
        case Sort.PRICE_ASC:
            return [{numbers_field(PRICE): {"order": "asc", "missing": "_last"}}, tie]
        case Sort.PRICE_DESC:
            return [{numbers_field(PRICE): {"order": "desc", "missing": "_last"}}, tie]
        case Sort.NEWEST:
            return [{numbers_field(CREATED): {"order": "desc", "missing": "_last"}}, tie]
        case Sort.NAME:
            return [{"name": "asc"}, tie]
        case Sort.RELEVANCE if by_score:
            return [*_by_group(request, alone), *_sold_out_behind(request, unlike), {"_score": "desc"}, tie]
    places = {document_id: place for place, document_id in reversed(list(enumerate(request.first)))}
    places |= dict.fromkeys(request.last, len(request.first) + 1)
    placed = [_by_script(_PLACE, {"places": places, "behind": len(request.first)})] if places else []
    behind = [{"is_sold": "desc"}] if request.ranking.sold_out_last else []
    newest = {numbers_field(CREATED): {"order": "desc", "missing": 0}}
    grouped = _by_group(request, alone) if request.sort is Sort.RELEVANCE else []
    return [*grouped, *placed, *behind, {"is_featured": "desc"}, newest, tie]


def _sold_out_behind(request: SearchRequest, unlike: Unlike | None) -> list[Body]:
    if not request.ranking.sold_out_last:
        return []
    if unlike is None:
        return [{"is_sold": "desc"}]
    return [_by_script(_TIER, {"ids": sorted(unlike.ids), "lack": unlike.lack})]


def _by_group(request: SearchRequest, alone: Collection[str]) -> list[Body]:
    """Return the key of the order by groups; none where the request has none."""
    if not request.groups:
        return []
    tiers, ordinary = group_tiers(request.groups)
    groups = [_group(group, tier) for group, tier in zip(request.groups, tiers, strict=True)]
    unlifted = dict.fromkeys(sorted(alone), True)
    return [_by_script(_GROUP, {"groups": groups, "ordinary": ordinary, "alone": unlifted})]


def in_buried_group(groups: Sequence[PlacedGroup]) -> list[Body]:
    """Return the conditions of documents whose first group is a buried one; none where no group is buried."""
    conditions, boosted = [], list[Body]()
    for group in groups:
        held = [*map(carries, group.values), *map(lies_in, group.ranges)]
        belongs = {"bool": {"filter": held, "must_not": [carries(wanted) for wanted in group.excluded]}}
        if group.is_boosted:
            boosted.append(belongs)
        else:
            conditions.append({"bool": {"filter": [belongs], "must_not": list(boosted)}})
    return conditions


def _group(group: PlacedGroup, tier: int) -> Body:
    sides = [(wanted, False) for wanted in group.values] + [(wanted, True) for wanted in group.excluded]
    values = [
        {"field": values_field(wanted.name), "values": list(wanted.values), "lacks": lacks} for wanted, lacks in sides
    ]
    ranges = [{"field": numbers_field(wanted.name), "low": wanted.low, "high": wanted.high} for wanted in group.ranges]
    return {"tier": tier, "values": values, "ranges": ranges}


def _by_script(source: str, params: Mapping[str, object]) -> Body:
    return {"_script": {"type": "number", "order": "asc", "script": {"source": source, "params": dict(params)}}}


class Filters:
    """What the shopper chose, and the counts of facets and ranges, each with its own filter left out."""

    def __init__(self, request: SearchRequest) -> None:
        self._request = request

    def conditions(self, but_value: str | None = None, but_range: str | None = None) -> list[Body]:
        """Return the conditions of all filters but those of a name."""
        values = [carries(wanted) for wanted in self._request.filters if wanted.name != but_value]
        return values + [lies_in(wanted) for wanted in self._request.ranges if wanted.name != but_range]

    def counts(self) -> Body:
        """Return the aggregations for facets and ranges. `counts_in` finds them in the answer."""
        request, filtered = self._request, {wanted.name for wanted in self._request.filters}
        in_range = {wanted.name for wanted in request.ranges}
        facets = {name: (f"facet {place}", _values(name)) for place, name in enumerate(request.facets)}
        ranges = {name: (f"range {place}", _span(name)) for place, name in enumerate(request.range_facets)}
        shared = dict(found for name, found in facets.items() if name not in filtered)
        shared |= dict(found for name, found in ranges.items() if name not in in_range)
        made = self._under(shared, "shared", self.conditions())
        for name in facets.keys() & filtered:
            made |= self._under(dict([facets[name]]), f"own {facets[name][0]}", self.conditions(but_value=name))
        for name in ranges.keys() & in_range:
            made |= self._under(dict([ranges[name]]), f"own {ranges[name][0]}", self.conditions(but_range=name))
        return made

    @staticmethod
    def found(aggregations: Mapping[str, Any]) -> dict[str, Any]:
        """Return the aggregations of `counts` in an answer, by `facet` or `range` and the place in the request."""
        flat: dict[str, Any] = {}
        for key, found in aggregations.items():
            flat |= found if key.startswith(("own ", "shared")) else {key: found}
        return flat

    def _under(self, aggregations: Body, key: str, conditions: Sequence[Body]) -> Body:
        if not aggregations or not conditions:
            return aggregations
        return {key: {"filter": all_of(conditions), "aggs": aggregations}}


def _values(name: str) -> Body:
    return {"terms": {"field": values_field(name), "size": MOST_FACET_VALUES}}


def _span(name: str) -> Body:
    return {"stats": {"field": numbers_field(name)}}

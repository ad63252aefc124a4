"""The parts of the queries to a cluster that need no cluster: what words match, the tiers of what is found, the counts
beside it, and the rounds in which answers are fetched."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from app.adapters.opensearch.cluster import Cluster, Target
from app.adapters.opensearch.lookups import MOST_SECONDS, LookupMissingError, Lookups
from app.adapters.opensearch.mapping import Body, values_field
from app.adapters.opensearch.matches import EVERY_FIELD as EVERY
from app.adapters.opensearch.matches import NO_MATCH, Word, match_beginning, match_units, match_words
from app.adapters.opensearch.queries import (
    MOST_CLAUSES,
    Filters,
    Unlike,
    clauses,
    demotions,
    order_of,
    shortened,
    tiers_of,
    word_scores,
)
from app.domain.search.engine import (
    Alternatives,
    EngineFault,
    RangeFilter,
    SearchRequest,
    SearchUnavailable,
    Sort,
    ValueFilter,
)
from app.domain.search.ranking.query import Query
from app.domain.search.ranking.scoring import (
    COMPOUND_WORTH,
    DEMOTION,
    FIELDS,
    FORM_WORTH,
    PREFIX_WORTH,
    TEXT_FIELDS,
    field_weight,
)
from app.domain.search.ranking_settings import RankingSettings, SoldOut
from app.domain.search.word_forms import root

EVERY_FIELD = lambda word: EVERY  # noqa: E731
NO_FIELD = lambda word: ()  # noqa: E731
GEARBOX = Alternatives(0, 1, (("shifter",), ("gear", "lever")))


def terms_of(body: object) -> list[tuple[str, str, float]]:
    """(field, word, boost) of each term that scores."""
    found = []
    if isinstance(body, Mapping):
        for key, inner in body.items():
            if key == "term":
                found += [(name, at["value"], at["boost"]) for name, at in inner.items() if isinstance(at, Mapping)]
            elif key != "filter":
                found += terms_of(inner)
    elif isinstance(body, list):
        found += [term for inner in body for term in terms_of(inner)]
    return found


def scores(fields: Mapping[str, Mapping[str, float]]) -> Any:
    """What words score in a document, by the field; what forms of a root score, by the field of roots."""

    def score(name: str, word: str) -> float:
        field, _, text = name.partition(".")
        if not text:
            return fields.get(field, {}).get(word, 0.0)
        return sum(worth for form, worth in fields.get(text, {}).items() if root(form) == word)

    return score


def held(fields: Mapping[str, Mapping[str, float]]) -> Any:
    """The fields in which a document has a word, and the fields of roots."""
    return lambda word: [name for name in EVERY if scores(fields)(name, word)]


class TestMatches:
    def test_a_word_scores_in_each_field_by_its_weight(self) -> None:
        body = Word("mug").scored(EVERY_FIELD, 0.5)
        assert terms_of(body) == [(f"words.{name}", "mug", 0.5 * field_weight(name)) for name in FIELDS]

    def test_fields_that_lack_a_word_are_left_out(self) -> None:
        assert terms_of(Word("mug").scored(lambda _: ["name"])) == [("words.name", "mug", field_weight("name"))]
        assert Word("mug").pruned(NO_FIELD) == NO_MATCH

    def test_neighbours_written_as_one_count_for_each_of_them_and_in_texts_alone(self) -> None:
        trail, pack = match_words(["trail", "pack"])
        in_code, in_name = scores({"codes": {"trailpack": 1}}), scores({"name": {"trailpack": 1}})
        assert trail.score_in(in_code) == pack.score_in(in_code) == 0
        assert trail.score_in(in_name) == pack.score_in(in_name) == COMPOUND_WORTH * field_weight("name")
        assert Word("trailpack", in_text=True).pruned(lambda _: ["codes"]) == NO_MATCH

    def test_of_several_readings_the_best_counts(self) -> None:
        last = match_beginning(Query(("gear",)), ["gearbox", "gears"])
        assert last.score_in(scores({"parts": {"gearbox": 2, "gears": 5}})) == PREFIX_WORTH * 5
        assert last.score_in(scores({"parts": {"gear": 3, "gears": 5}})) == 3

    def test_other_forms_of_a_word_count_for_less_and_in_texts_alone(self) -> None:
        (hike,) = match_words(["hike"])
        assert hike.score_in(scores({"name": {"hiking": 1}})) == FORM_WORTH * field_weight("name")
        assert hike.score_in(scores({"name": {"hike": 2, "hiking": 1}})) == 2 * field_weight("name")
        assert hike.score_in(scores({"parts": {"hiking": 1}})) == 0
        assert hike.condition() == {"bool": {"should": [{"terms": {"any": ["hike"]}}, {"terms": {"roots": ["hike"]}}]}}
        assert hike.pruned(lambda _: ["name"]).score_in(scores({"name": {"hiking": 1}})) == 0

    def test_a_word_in_quotes_has_no_other_forms(self) -> None:
        (unit,) = match_units(Query.of(SearchRequest(words='"hike"')), None, apart=False)
        assert unit.match.score_in(scores({"name": {"hiking": 1}})) == 0

    def test_an_alternative_of_several_words_needs_all_of_them(self) -> None:
        query = Query.of(SearchRequest(words="gearbox", alternatives=(GEARBOX,)))
        (unit,) = match_units(query, None, apart=False)
        assert unit.match.score_in(scores({"name": {"gear": 1}})) == 0
        assert unit.match.score_in(scores({"name": {"gear": 1, "lever": 1}})) > 0
        assert unit.own is not None and unit.own.score_in(scores({"name": {"gear": 1, "lever": 1}})) == 0

    @pytest.mark.parametrize("seed", range(30))
    def test_the_condition_holds_where_the_score_is_not_zero(self, seed: int) -> None:
        chance = random.Random(seed)
        query = Query.of(SearchRequest(words="gearbox for car", alternatives=(GEARBOX,), optional=frozenset({"for"})))
        words = (
            "gearbox",
            "for",
            "car",
            "carport",
            "shifter",
            "gear",
            "lever",
            "levered",
            "geared",
            "gearboxfor",
            "forcar",
        )
        fields = {name: {word: 1.0 for word in words if chance.random() < 0.1} for name in FIELDS}
        for unit in match_units(query, match_beginning(query, ["carport"]), apart=True):
            assert fits(unit.match.condition(), fields) == (unit.match.score_in(scores(fields)) > 0)

    @pytest.mark.parametrize("seed", range(30))
    def test_a_match_without_what_no_document_has_is_the_same_match(self, seed: int) -> None:
        chance = random.Random(seed)
        query = Query.of(SearchRequest(words="gearbox for car", alternatives=(GEARBOX,), optional=frozenset({"for"})))
        words = (
            "gearbox",
            "for",
            "car",
            "carport",
            "shifter",
            "gear",
            "lever",
            "levered",
            "geared",
            "gearboxfor",
            "forcar",
        )
        fields = {name: {word: 1.0 for word in words if chance.random() < 0.1} for name in FIELDS}
        for unit in match_units(query, match_beginning(query, ["carport"]), apart=True):
            pruned = unit.pruned(held(fields))
            assert pruned.match.score_in(scores(fields)) == unit.match.score_in(scores(fields))
            assert fits(pruned.match.condition(), fields) == fits(unit.match.condition(), fields)

    def test_more_alternatives_than_a_cluster_takes_leave_the_last_out(self) -> None:
        others = tuple(tuple(f"{word}{n}" for word in ("big", "old", "red", "sofa", "bed")) for n in range(120))
        query = Query.of(SearchRequest(words="couch", alternatives=(Alternatives(0, 1, others),)))
        (unit,) = shortened(query, match_units(query, None, apart=False))
        assert clauses(unit.match.condition()) <= MOST_CLAUSES
        assert 10 < len(unit.match.readings) < 120
        assert unit.own is not None

    def test_what_is_longer_than_a_cluster_takes_names_the_other_readings_together(self) -> None:
        others = tuple((f"sofa{n}", f"bed{n}") for n in range(120))
        query = Query.of(SearchRequest(words="couch", alternatives=(Alternatives(0, 1, others),)))
        units = match_units(query, None, apart=False)
        assert clauses(units[0].match.scored(EVERY_FIELD)) > MOST_CLAUSES
        short = word_scores(query, units, EVERY_FIELD, None)
        assert clauses(short) <= MOST_CLAUSES
        assert {word for _, word, _ in terms_of(short)} == {"couch"}


def fits(condition: Body, fields: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether a document with these words in its fields fits a condition."""
    ((kind, inner),) = condition.items()
    if kind in ("term", "terms"):
        ((field, wanted),) = inner.items()
        if field == "roots":
            roots = {root(word) for name in TEXT_FIELDS for word in fields[name]}
            return not roots.isdisjoint([wanted] if kind == "term" else wanted)
        names = FIELDS if field == "any" else TEXT_FIELDS
        return any(word in fields[name] for name in names for word in ([wanted] if kind == "term" else wanted))
    if kind == "match_none":
        return False
    assert kind == "bool"
    some = inner.get("should", [])
    least = inner.get("minimum_should_match", 1 if some else 0)
    return all(fits(each, fields) for each in inner.get("filter", [])) and (
        sum(fits(each, fields) for each in some) >= least
    )


class TestScores:
    def test_all_words_must_match_but_optional_ones(self) -> None:
        query = Query.of(SearchRequest(words="bag for laptop"))
        body = word_scores(query, match_units(query, None, apart=False), EVERY_FIELD, None)
        must, should = body["bool"]["must"], body["bool"]["should"]
        assert [terms_of(part)[0][1] for part in must] == ["bag", "laptop"]
        assert terms_of(should[0])[0][1] == "for"
        assert [word for _, word, _ in terms_of(should[1:])] == ["bagfor", "forlaptop", "bagforlaptop"]

    def test_fewer_words_count_by_the_square_of_their_share_the_most_first(self) -> None:
        query = Query.of(SearchRequest(words="green jacket polish"))
        body = word_scores(query, match_units(query, None, apart=True), EVERY_FIELD, 2)
        functions = body["bool"]["must"][0]["function_score"]["functions"]
        assert [function["weight"] for function in functions] == [1, pytest.approx(4 / 9)]


class TestTiers:
    def test_there_are_none_without_alternatives(self) -> None:
        query = Query.of(SearchRequest(words="gearbox"))
        assert tiers_of(query, match_units(query, None, apart=False), None) == []

    def test_documents_that_lack_own_words_follow_for_each_number_of_words(self) -> None:
        query = Query.of(SearchRequest(words="gearbox toyota", alternatives=(GEARBOX,)))
        tiers = tiers_of(query, match_units(query, None, apart=True), 1)
        assert [(tier.count, tier.missing) for tier in tiers] == [(2, 0), (2, 1), (1, 0), (1, 1)]

    def test_each_tier_stands_below_the_last_of_those_above(self) -> None:
        first, _, *others = demotions([(4.0, 9.0), None, (1.0, 8.0), (0.5, 20.0)])
        assert first == 1.0
        both = zip([(4.0, 9.0), (1.0, 8.0), (0.5, 20.0)], [first, *others], strict=True)
        ends = [(low * factor, high * factor) for (low, high), factor in both]
        for place, above in enumerate(ends):
            assert all(below[1] <= 1.0001 * DEMOTION * above[0] for below in ends[place + 1 :])
        assert ends[2][1] == pytest.approx(DEMOTION * ends[1][0])

    def test_what_lies_below_already_stays(self) -> None:
        assert demotions([(4.0, 9.0), (1.0, 2.0)]) == [1.0, 1.0]


class TestOrder:
    @pytest.mark.parametrize("sort", list(Sort))
    @pytest.mark.parametrize("by_score", [True, False])
    def test_equal_documents_stand_by_their_id_on_every_page(self, sort: Sort, by_score: bool) -> None:
        assert order_of(SearchRequest(sort=sort), None, by_score=by_score)[-1] == {"id": "asc"}

    def test_sold_out_products_are_last_within_those_that_have_all_the_words(self) -> None:
        request = SearchRequest(words="mug", ranking=RankingSettings(SoldOut.LAST))
        first, *_ = order_of(request, Unlike(("P1",), lack=False), by_score=True)
        assert first["_script"]["script"]["params"] == {"ids": ["P1"], "lack": False}
        assert order_of(request, None, by_score=True)[0] == {"is_sold": "desc"}


class TestCounts:
    def test_a_facet_leaves_its_own_filter_out_and_the_others_share_one(self) -> None:
        red, cheap = ValueFilter("colour", ("Red",)), RangeFilter("price", high=5)
        counts = Filters(
            SearchRequest(filters=(red,), ranges=(cheap,), facets=("colour", "brand"), range_facets=("price",))
        ).counts()
        shared, own, span = counts["shared"], counts["own facet 0"], counts["own range 0"]
        assert list(shared["aggs"]) == ["facet 1"] and len(shared["filter"]["bool"]["filter"]) == 2
        assert own["filter"]["bool"]["filter"] == [{"range": {"numbers.price": {"lte": 5}}}]
        assert span["filter"]["bool"]["filter"] == [{"terms": {"values.colour": ["Red"]}}]

    def test_without_filters_nothing_is_filtered(self) -> None:
        counts = Filters(SearchRequest(facets=("colour",))).counts()
        assert list(counts) == ["facet 0"] and "terms" in counts["facet 0"]

    def test_any_name_has_a_field(self) -> None:
        assert values_field("no. of *doors*") != values_field("no. of ~doors~")
        assert "." not in values_field("no. of doors").removeprefix("values.")


class Answering:
    """A cluster that has so many documents for each query, and counts its round trips."""

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []

    def search_many(self, target: Target, bodies: Sequence[str]) -> list[Mapping[str, Any]]:
        self.rounds.append(list(bodies))
        return [{"hits": {"total": {"value": len(str(json.loads(body)["query"]))}}} for body in bodies]


class TestLookups:
    def lookups(self) -> tuple[Lookups, Answering]:
        cluster = Answering()
        return Lookups(cast(Cluster, cluster), Target("an index")), cluster

    def test_what_many_searches_lack_comes_in_one_round_and_equal_ones_once(self) -> None:
        lookups, cluster = self.lookups()
        assert lookups.complete([lambda: lookups.count({"a": 1}, 0) > 1, lambda: lookups.count({"a": 1}, 0) > 1]) == [
            True,
            True,
        ]
        assert [len(bodies) for bodies in cluster.rounds] == [1]

    def test_a_guess_goes_on_and_is_no_result(self) -> None:
        lookups, cluster = self.lookups()

        def both() -> tuple[int, int]:
            return lookups.count({"a": 1}, 0), lookups.count({"bb": 1}, 0)

        assert lookups.complete([both]) == [(len(str({"a": 1})), len(str({"bb": 1})))]
        assert [len(bodies) for bodies in cluster.rounds] == [2]

    def test_what_is_needed_after_an_answer_takes_a_round_of_its_own(self) -> None:
        lookups, cluster = self.lookups()

        def one_after_another() -> int:
            first = lookups.search({"query": "a"})["hits"]["total"]["value"]
            return int(lookups.search({"query": "b" * first})["hits"]["total"]["value"])

        assert lookups.complete([one_after_another]) == [1]
        assert len(cluster.rounds) == 2

    def test_what_is_looked_up_ahead_comes_with_it_and_decides_nothing(self) -> None:
        lookups, cluster = self.lookups()

        def ahead() -> int:
            lookups.ahead(lambda: lookups.search({"query": "later"}))
            return lookups.count({"a": 1}, 0)

        assert lookups.complete([ahead, lambda: lookups.count({"a": 1}, 0)])
        assert [len(bodies) for bodies in cluster.rounds] == [2]

    def test_rounds_that_take_long_together_end_with_an_error(self) -> None:
        cluster, times = Answering(), iter([0.0, 1.0, MOST_SECONDS + 1])
        lookups = Lookups(cast(Cluster, cluster), Target("an index"), lambda: next(times))
        with pytest.raises(SearchUnavailable, match="too slow") as refused:
            lookups.complete([lambda: lookups.search({"query": lookups.search({"query": "a"})})])
        assert refused.value.fault is EngineFault.SLOW
        assert len(cluster.rounds) == 1

    def test_an_answer_that_is_not_there_stops_a_computation(self) -> None:
        lookups, _ = self.lookups()
        with pytest.raises(LookupMissingError):
            lookups.search({"query": "a"})

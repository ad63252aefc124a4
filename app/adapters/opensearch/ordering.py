"""The documents of a request in their order: by the keys of a sort, with pinned, boosted and buried ones
(app/domain/search/ranking/scoring.py) in their places."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from app.adapters.opensearch import queries
from app.adapters.opensearch.lookups import Answer, Lookups, total_of
from app.adapters.opensearch.mapping import Body
from app.adapters.opensearch.matches import NOTHING
from app.adapters.opensearch.matching import Found, Index
from app.adapters.opensearch.meaning import (
    Fusion,
    SearchVectors,
    cosines_of,
    near_documents,
    rank,
    unite,
    vector_of,
)
from app.domain.search.engine import RESULT_WINDOW, SearchRequest, Sort
from app.domain.search.ranking import spelling
from app.domain.search.ranking.query import Query
from app.domain.search.ranking.scoring import MOST_SIMILAR, SIMILAR_COSINE, PlacedDocuments
from app.domain.search.sentence_model import MeaningLateError, Vectors

Document = Mapping[str, Any]  # A hit of the cluster, with `_source` and `_score`.
CARD = ["id", "card"]
WHOLE: Body = {"excludes": ["vector"]}
FIRST = 500  # Documents among which the place of one is looked for first.


class OrderedDocuments:
    """The documents that one request finds in one index. Everything may raise LookupMissingError (see `lookups`)."""

    def __init__(self, lookups: Lookups, request: SearchRequest, vectors: SearchVectors) -> None:
        self.lookups, self.request, self._vectors = lookups, request, vectors
        self.lacks_meaning = False
        self.index, self.filters = Index(lookups, request), queries.Filters(request)

    @cached_property
    def answer(self) -> spelling.Answer[Found] | None:
        query = Query.of(self.request)
        if self._vectors.are_wanted(self.request):
            self.lookups.ahead(lambda: self.lookups.search(queries.models()))
        return spelling.answer(self.index, self.request, query) if query.words else None

    @cached_property
    def vector(self) -> Vectors | None:
        """Return the vector of the words; None where words alone rank, or where it is late."""
        try:
            return vector_of(self.lookups, self._vectors, self.request, self.answer)
        except MeaningLateError:
            self.lacks_meaning = True
            return None

    @property
    def _found(self) -> Found | None:
        return self.answer.found if self.answer else None

    @cached_property
    def _may_add(self) -> bool:
        """Whether meaning adds to what the words find: where they name no level."""
        found = self._found
        return found is not None and not (len(found) and self.index.lifts(found).named is not None)

    @cached_property
    def near(self) -> Mapping[str, float]:
        """Return the cosines of the documents that are found by their meaning, by the words as well or not."""
        found = self._found
        if found is None or self.vector is None or not self._may_add:
            return {}
        return near_documents(self.lookups, self.request.scope, len(found), self.vector)

    @cached_property
    def fusion(self) -> Fusion | None:
        """Return the points by words and by meaning; None where words alone rank."""
        found = self._found
        if self.request.sort is not Sort.RELEVANCE or found is None or self.vector is None:
            return None
        if self._may_add:
            return unite(self.lookups, self.index, found, self.near)
        return rank(self.lookups, self.index, found, self.vector)

    @property
    def alone(self) -> frozenset[str]:
        """Return the documents, in the order by relevance, that are found by their meaning alone."""
        return self.fusion.alone if self.fusion is not None else frozenset()

    def is_by_meaning_alone(self, document_id: str) -> bool:
        """Return whether the words do not find one of the results, which is found by its meaning."""
        found = self._found
        if found is None or document_id not in self.near:
            return False
        own = queries.all_of([found.condition, queries.one_of([document_id])])
        return not len(found) or not self.lookups.count(own, 0)

    @property
    def wants_hits(self) -> bool:
        start, end = self.request.window
        return start < end and self.request.page >= 1

    def query(self, *, scored: bool) -> Body:
        """Return the query for all that is found and pinned, before the shopper's filters."""
        found, request = self._found, self.request
        if found is None:
            words = NOTHING if request.words.strip() else queries.EVERYTHING
        else:
            words = self._finding(found, scored=scored)
        if request.pins:
            words = queries.added(words, (pin.id for pin in request.pins))
        return queries.matching(request.scope, words)

    def _finding(self, found: Found, *, scored: bool) -> Body:
        """Return the query for what words and meaning find."""
        words = NOTHING
        if len(found):
            words = self.index.scored(found) if scored else found.condition
        if self.near:
            words = queries.added(words, self.near)
        return self.fusion.query(words) if scored and self.fusion is not None else words

    def score(self, document: Document) -> float:
        """Return the score of one of the results, without what its tier adds to it."""
        score = float(document["_score"])
        return score if self.fusion is None else score % queries.TIER

    def similar(self) -> list[tuple[Document, float]]:
        """Return the documents near in meaning to show beside a short list of results, and their cosines."""
        request, found = self.request, self._found
        if self.vector is None or request.page != 1 or self.total >= request.similar_below:
            return []
        left_out = [queries.one_of((*request.buries, *self.near, *(pin.id for pin in request.pins)))]
        left_out += queries.in_buried_group(request.groups)
        left_out += [found.condition] if found is not None and len(found) else []
        conditions = [*queries.conditions(request.scope), *self.filters.conditions()]
        conditions.append({"bool": {"must_not": left_out}})
        body = queries.nearest(self.vector, conditions, MOST_SIMILAR) | {"_source": CARD}
        answer = self.lookups.search(body)
        pairs = zip(answer["hits"]["hits"], cosines_of(answer).values(), strict=True)
        return [(hit, cosine) for hit, cosine in pairs if cosine >= SIMILAR_COSINE]

    def search(self, **body: object) -> Answer:
        """Return the answer to a search for the documents in their order, with the scores."""
        found = self._found
        alone = self.alone if self.request.groups else ()
        order = queries.order_of(self.request, self._unlike, alone, by_score=found is not None)
        query = self.query(scored=found is not None)
        return self.lookups.search({"query": query, "sort": order, "track_scores": found is not None, **body})

    @property
    def _unlike(self) -> queries.Unlike | None:
        """Return which documents have all the words, or lack some; None where all are alike."""
        found = self._found
        if found is None:
            return None
        if found.full is None:
            return queries.Unlike(self.alone, lack=True) if self.alone else None
        return queries.Unlike(found.full, lack=False) if found.full else None

    # The page, as it is counted and without what is placed by hand

    @cached_property
    def main(self) -> Answer:
        """Return the counts, and as many documents that are not placed by hand as may stand on the page."""
        counted = {"aggs": self.filters.counts() | self._counts_of_words(), "track_total_hits": True}
        counted["post_filter"] = self._not_placed
        if not self.wants_hits:
            return self.lookups.search({"query": self.query(scored=False), "size": 0, **counted})
        start, end = self._window
        return self.search(**counted, **{"from": start, "size": end - start, "_source": self._shown})

    @property
    def _shown(self) -> Body | list[str]:
        return WHOLE if self.request.explain else CARD

    @property
    def _window(self) -> tuple[int, int]:
        """The places, among the documents that are not placed by hand, of those that may stand on the page."""
        start, end = self.request.window
        return max(0, start - len(self._placed_ids)), end

    @cached_property
    def _placed_ids(self) -> frozenset[str]:
        request = self.request
        if request.sort is not Sort.RELEVANCE:
            return frozenset()
        boosts = [document_id for document_id in request.boosts if document_id not in self.alone]
        return frozenset((*(pin.id for pin in request.pins), *boosts, *request.buries))

    @property
    def _not_placed(self) -> Body:
        conditions = self.filters.conditions()
        others = {"must_not": [queries.one_of(self._placed_ids)]} if self._placed_ids else {}
        return {"bool": {"filter": conditions, **others}} if conditions or others else queries.EVERYTHING

    def _counts_of_words(self) -> Body:
        """Return the aggregations for how many of the results have the words, where pins and meaning are among them,
        how many have all of them, where not all do, and how many are found by their meaning alone."""
        found, own = self._found, []
        wanted = {}
        if found is not None and len(found):
            own = [found.condition]
            if self.request.pins or self.near:
                wanted["by words"] = found.condition
        if found is not None and found.full:
            wanted["full"] = queries.one_of(found.full)
        if self.near:
            wanted["alone"] = {"bool": {"filter": [queries.one_of(self.near)], "must_not": own}}
        conditions = self.filters.conditions()
        return {key: {"filter": queries.all_of([*conditions, condition])} for key, condition in wanted.items()}

    @cached_property
    def placed(self) -> Mapping[str, Document]:
        """Return those of the documents placed by hand that are among the results, in the order where nothing is."""
        if not self._placed_ids:
            return {}
        conditions = queries.all_of([*self.filters.conditions(), queries.one_of(self._placed_ids)])
        answer = self.search(post_filter=conditions, size=len(self._placed_ids), _source=self._shown)
        return {id_of(document): document for document in answer["hits"]["hits"]}

    @property
    def total(self) -> int:
        return total_of(self.main) + len(self.placed)

    @cached_property
    def placement(self) -> PlacedDocuments:
        alone = self.alone if self.request.boosts else ()
        return PlacedDocuments.of(self.request, self.placed.keys(), self.total, alone)

    def page(self) -> list[Document]:
        """Return the documents of the page in their order."""
        if not self.wants_hits:
            return []
        before, slots = self.placement.slots(*self.request.window)
        shown: list[Document | None] = []
        for pinned in slots:
            shown.append(self._unpinned(before) if pinned is None else self.placed[pinned])
            before += pinned is None
        return [document for document in shown if document is not None]

    def _unpinned(self, place: int) -> Document | None:
        """Return the document at a place of those that are not pinned; None where the index changed meanwhile."""
        boosts = self.placement.boosts
        if place < len(boosts):
            return self.placed[boosts[place]]
        place -= len(boosts)
        others = self.main["hits"]["hits"]
        if place < total_of(self.main):
            place -= self._window[0]
            return others[place] if place < len(others) else None
        place -= total_of(self.main)
        return self.placed[self._buried[place]] if place < len(self._buried) else None

    @property
    def _buried(self) -> list[str]:
        return [document_id for document_id in self.placed if document_id in self.placement.buries]

    def hit(self, document_id: str) -> Document | None:
        """Return one of the results with its score and all that is stored of it; None for any other document."""
        only = queries.all_of([*self.filters.conditions(), queries.one_of([document_id])])
        hits = self.search(post_filter=only, size=1, _source=WHOLE)["hits"]["hits"]
        return hits[0] if hits else None

    def rank(self, document_id: str) -> int | None:
        """Return the 1-based rank of one of the results; None for one that is on no page, behind RESULT_WINDOW."""
        placement = self.placement
        if pinned := placement.pin_rank(document_id):
            return pinned
        if document_id in placement.boosts:
            return placement.rank(placement.boosts.index(document_id))
        if document_id in self._buried:
            return placement.rank(len(placement.boosts) + total_of(self.main) + self._buried.index(document_id))
        place = self._place_among_others(document_id)
        return None if place is None else placement.rank(len(placement.boosts) + place)

    def _place_among_others(self, document_id: str) -> int | None:
        """Return the place of a document among those that are not placed by hand; None for one behind RESULT_WINDOW,
        since each trip brings only so many."""
        before, after, size = 0, dict[str, object](), FIRST
        while before < RESULT_WINDOW:
            answer = self.search(
                post_filter=self._not_placed, size=size, _source=False, docvalue_fields=["id"], **after
            )
            hits = answer["hits"]["hits"]
            ids = [hit["fields"]["id"][0] for hit in hits]
            if document_id in ids or len(ids) < size:
                return before + (ids.index(document_id) if document_id in ids else len(ids))
            before, after, size = before + len(ids), {"search_after": hits[-1]["sort"]}, RESULT_WINDOW
        return None


def id_of(document: Document) -> str:
    document_id: str = document["_source"]["id"]
    return document_id

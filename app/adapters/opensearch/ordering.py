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
from app.adapters.opensearch.meaning import Fusion, SearchVectors, cosines_of, fuse, vector_of
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

    @cached_property
    def fusion(self) -> Fusion | None:
        """Return the points by words and by meaning; None where words alone rank."""
        found = self.answer.found if self.answer else None
        if self.request.sort is not Sort.RELEVANCE or found is None or not len(found) or self.vector is None:
            return None
        return fuse(self.lookups, self.index, found, self.index.scored(found), self.vector)

    @property
    def wants_hits(self) -> bool:
        start, end = self.request.window
        return start < end and self.request.page >= 1

    def query(self, *, scored: bool) -> Body:
        """Return the query for all that is found and pinned, before the shopper's filters."""
        found, request = self.answer.found if self.answer else None, self.request
        if found is None:
            words = NOTHING if request.words.strip() else queries.EVERYTHING
        elif not len(found):
            words = NOTHING
        else:
            words = self._scored(found) if scored else found.condition
        if request.pins:
            pinned = queries.one_of(pin.id for pin in request.pins)
            words = {"bool": {"should": [words, {"constant_score": {"filter": pinned, "boost": 0}}]}}
        return queries.matching(request.scope, words)

    def _scored(self, found: Found) -> Body:
        scored = self.index.scored(found)
        return scored if self.fusion is None else self.fusion.query(scored)

    def score(self, document: Document) -> float:
        """Return the score of one of the results, without what its tier adds to it."""
        score = float(document["_score"])
        return score if self.fusion is None else score % queries.TIER

    def similar(self) -> list[tuple[Document, float]]:
        """Return the documents near in meaning to show beside a short list of results, and their cosines."""
        request, found = self.request, self.answer.found if self.answer else None
        if self.vector is None or request.page != 1 or self.total >= request.similar_below:
            return []
        left_out = [queries.one_of((*request.buries, *(pin.id for pin in request.pins)))]
        left_out += [found.condition] if found is not None and len(found) else []
        conditions = [*queries.conditions(request.scope), *self.filters.conditions()]
        conditions.append({"bool": {"must_not": left_out}})
        body = queries.nearest(self.vector, conditions, MOST_SIMILAR) | {"_source": CARD}
        answer = self.lookups.search(body)
        pairs = zip(answer["hits"]["hits"], cosines_of(answer).values(), strict=True)
        return [(hit, cosine) for hit, cosine in pairs if cosine >= SIMILAR_COSINE]

    def search(self, **body: object) -> Answer:
        """Return the answer to a search for the documents in their order, with the scores."""
        found = self.answer.found if self.answer else None
        order = queries.order_of(self.request, found.full or None if found else None, by_score=found is not None)
        query = self.query(scored=found is not None)
        return self.lookups.search({"query": query, "sort": order, "track_scores": found is not None, **body})

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
        return frozenset((*(pin.id for pin in request.pins), *request.boosts, *request.buries))

    @property
    def _not_placed(self) -> Body:
        conditions = self.filters.conditions()
        others = {"must_not": [queries.one_of(self._placed_ids)]} if self._placed_ids else {}
        return {"bool": {"filter": conditions, **others}} if conditions or others else queries.EVERYTHING

    def _counts_of_words(self) -> Body:
        """Return the aggregations for how many of the results have the words, where pins are among them, and how many
        have all of them, where not all do."""
        found = self.answer.found if self.answer else None
        wanted = {}
        if found is not None and len(found) and self.request.pins:
            wanted["by words"] = found.condition
        if found is not None and found.full:
            wanted["full"] = queries.one_of(found.full)
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
        return PlacedDocuments.of(self.request, self.placed.keys(), self.total)

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

"""One request against one state of an index: order, counts and the page of hits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import islice

from app.domain.search.engine import (
    MOST_FACET_VALUES,
    Hit,
    PlacedGroup,
    RangeCount,
    SearchRequest,
    SearchResult,
    Sort,
)
from app.domain.search.ranking import scoring, spelling
from app.domain.search.ranking.query import (
    Query,
)
from app.domain.search.ranking.scoring import PlacedDocuments
from app.domain.search.text import quoted_words
from app.domain.shared.text import fold
from tests.adapters.reference_engine.documents import Documents, Scores, carries, lies_in, sells
from tests.adapters.reference_engine.matching import Index


class Evaluation:
    """One request against one state of an index."""

    def __init__(self, documents: Documents, request: SearchRequest) -> None:
        self.documents, self.request = documents, request
        self.index = Index(documents, request)
        query = Query.of(request)
        self.answer = spelling.answer(self.index, request, query) if query.words else None
        everything = {} if request.words.strip() else {id: 0.0 for id in self._in_scope()}
        self.scores = dict(self.answer.found.scores) if self.answer else everything
        self.by_words = set(self.scores)
        self.by_meaning: Scores = {}
        self.fused = False
        self.cosines = self._cosines() if self.answer else {}
        if self.cosines:
            self._find_by_meaning()
        self.alone = self.scores.keys() - self.by_words
        for pin in request.pins:
            if pin.id in self._in_scope():
                self.scores.setdefault(pin.id, 0.0)
        self.kept = [id for id in documents.by_id if id in self.scores and self._passes(id)]
        self.placement = PlacedDocuments.of(request, set(self.kept), len(self.kept), self.alone)

    def _cosines(self) -> Scores:
        """How near each document is to what was searched in the end; nothing where words alone rank."""
        assert self.answer is not None
        words, model = self.answer.query.words, self.documents.model
        if model is None or not self.request.by_meaning or self.request.is_typing:
            return {}
        if scoring.reads_as_code(words) or quoted_words(self.request.words) or self.documents.has_code(words):
            return {}
        text = self.answer.suggestion if self.answer.corrected else None
        vector = model.embed([text or self.request.words])[0]
        return {id: float(row @ vector) for id, row in self.documents.vectors.items()}

    @property
    def adds(self) -> bool:
        """Whether meaning adds to what the words find: where they name no level."""
        assert self.answer is not None
        return all(factor == 1.0 for factor in self.answer.found.lifts.get("level_name", {}).values())

    def _find_by_meaning(self) -> None:
        assert self.answer is not None
        words, full = dict(self.scores), self.answer.found.full
        among = self._in_scope() if self.adds else self.by_words
        least = scoring.least_cosine(len(words)) if self.adds else 0.0
        near = sorted((id for id in among if self.cosines[id] > 0), key=lambda id: -self.cosines[id])
        near = [id for id in near if self.cosines[id] >= least]
        near = near[: scoring.NEAREST_OF_ALL if self.adds else scoring.NEAREST]
        for id in near:
            self.scores.setdefault(id, 0.0)
        if self.request.sort is not Sort.RELEVANCE:
            return
        self.fused = True
        ranks = _ranks({id: self.cosines[id] for id in near})
        self.by_meaning = {id: scoring.points_by_meaning(rank) for id, rank in ranks.items()}
        by_words = {id: scoring.points_by_words(rank) for id, rank in _ranks(words).items()}
        if self.adds:
            by_words = {id: points * (1 if id in full else scoring.PARTIAL_SHARE) for id, points in by_words.items()}
        for id in self.scores:
            self.scores[id] = by_words.get(id, 0.0) + self.by_meaning.get(id, 0.0)

    def _similar(self) -> tuple[Hit, ...]:
        request = self.request
        if request.page != 1 or len(self.kept) >= request.similar_below:
            return ()
        left_out = self.scores.keys() | request.buries
        ids = [id for id in self.cosines if id in self._in_scope() and self._passes(id) and id not in left_out]
        near = [id for id in ids if self.cosines[id] >= scoring.SIMILAR_COSINE and not self._is_in_buried_group(id)]
        near = sorted(near, key=lambda id: -self.cosines[id])[: scoring.MOST_SIMILAR]
        return tuple(Hit(id, self.cosines[id], self._card(id)) for id in near)

    def _card(self, id: str) -> Mapping[str, object]:
        card: Mapping[str, object] = json.loads(json.dumps(self.documents.by_id[id].card))
        return card

    def _in_scope(self) -> set[str]:
        by_id = self.documents.by_id
        return {id for id, document in by_id.items() if all(carries(document, f) for f in self.request.scope)}

    def _passes(self, id: str, but_value: str | None = None, but_range: str | None = None) -> bool:
        """Whether a document passes all filters but those of a name."""
        document = self.documents.by_id[id]
        values = all(carries(document, f) for f in self.request.filters if f.name != but_value)
        return values and all(lies_in(document, f) for f in self.request.ranges if f.name != but_range)

    def result(self) -> SearchResult:
        by_words = sum(id in self.by_words for id in self.kept)
        full = sum(id in self.answer.found.full for id in self.kept) if self.answer else None
        return SearchResult(
            total=len(self.kept),
            hits=self._hits(),
            facets={name: self._facet(name) for name in self.request.facets},
            ranges={name: self._range(name) for name in self.request.range_facets},
            suggestion=self.answer.suggestion if self.answer else None,
            corrected=bool(self.answer and self.answer.corrected),
            relaxed=full is not None and full < by_words,
            full_matches=full,
            by_meaning_alone=sum(id in self.alone for id in self.kept),
            similar=self._similar(),
        )

    def _facet(self, name: str) -> tuple[tuple[str, int], ...]:
        ids = [id for id in self.scores if self._passes(id, but_value=name)]
        counts = Counter(value for id in ids for value in set(self.documents.by_id[id].values.get(name, ())))
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))[:MOST_FACET_VALUES]

    def _range(self, name: str) -> RangeCount:
        passing = [self.documents.by_id[id] for id in self.scores if self._passes(id, but_range=name)]
        numbers = [document.numbers[name] for document in passing if name in document.numbers]
        return RangeCount(min(numbers, default=None), max(numbers, default=None), len(numbers))

    def _hits(self) -> tuple[Hit, ...]:
        start, end = self.request.window
        if self.request.page < 1:
            return ()
        before, slots = self.placement.slots(start, end)
        unpinned = islice(self.unpinned(), before, None)
        shown = [next(unpinned) if pinned is None else pinned for pinned in slots]
        return tuple(Hit(id, self.scores[id] if self.answer else 0.0, self._card(id)) for id in shown)

    def unpinned(self) -> list[str]:
        pinned, boosts, buries = set(self.placement.pins.values()), self.placement.boosts, self.placement.buries
        free = sorted((id for id in self.kept if id not in pinned), key=self.key)
        others = [id for id in free if id not in boosts and id not in buries]
        return [*boosts, *others, *(id for id in free if id in buries)]

    def group_of(self, id: str) -> PlacedGroup | None:
        document = self.documents.by_id[id]
        groups = self.request.groups if self.request.sort is Sort.RELEVANCE else ()
        groups = tuple(group for group in groups if not (group.is_boosted and id in self.alone))
        return next((group for group in groups if group.holds(document.values, document.numbers)), None)

    def _is_in_buried_group(self, id: str) -> bool:
        document = self.documents.by_id[id]
        held = (group for group in self.request.groups if group.holds(document.values, document.numbers))
        return not next((group.is_boosted for group in held), True)

    def key(self, id: str) -> tuple[float | str, ...]:
        """The order where nothing is placed by its id, lowest first."""
        group = self.group_of(id)
        tiers, ordinary = scoring.group_tiers(self.request.groups)
        tier = ordinary if group is None else tiers[self.request.groups.index(group)]
        return (tier, *self._own_key(id))

    def _own_key(self, id: str) -> tuple[float | str, ...]:
        document, sort, nowhere = self.documents.by_id[id], self.request.sort, float("inf")
        is_behind = self.request.ranking.sold_out_last and not sells(document)
        created = document.numbers.get("createdAt")
        match sort:
            case Sort.PRICE_ASC:
                return (document.numbers.get("price", nowhere),)
            case Sort.PRICE_DESC:
                return (-document.numbers.get("price", -nowhere),)
            case Sort.NEWEST:
                return (nowhere if created is None else -created,)
            case Sort.NAME:
                return (fold(document.name),)
            case Sort.RELEVANCE if self.answer:
                ranks_tiers = self.request.ranking.sold_out_last or (self.fused and not self.adds)
                is_less = ranks_tiers and id not in self.answer.found.full
                return (is_less, is_behind, self._alternatives_alone(id), -self.scores[id])
        is_last = id in self.request.last
        first = () if is_last else self.request.first
        place = first.index(id) if id in first else len(self.request.first)
        is_behind = is_behind and id not in first
        return (is_last, place, is_behind, "true" not in document.values.get("featured", ()), -(created or 0.0))

    def _alternatives_alone(self, id: str) -> int:
        """For how many units a document has an alternative alone, where that does not show in the scores."""
        assert self.answer is not None
        found = self.answer.found
        if not self.fused or found.full < found.scores.keys():
            return 0
        if id in self.alone:
            return max(map(self._alternatives_alone, found.scores), default=0)
        return sum(unit.own is not None and id not in unit.own for unit in found.units)


def _ranks(scores: Scores) -> dict[str, int]:
    """From 0; equal scores share the rank of the first."""
    ordered = sorted(scores.values(), reverse=True)
    return {id: ordered.index(score) for id, score in scores.items()}

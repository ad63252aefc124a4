"""The scores of documents over arrays, by the policy of app/domain/search/ranking/scoring.py: the documents that have a
word with its score in each, and the lifts that multiply the scores of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facets import facet_of, value_mask
from app.adapters.whoosh.files import KIND_NAMES
from app.adapters.whoosh.view import BYTE_LENGTHS, Docs, Mask, View
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.scoring import (
    CREATED,
    FIELDS,
    FIRST_RESULTS,
    FORM_WORTH,
    IN_STOCK,
    KIND,
    LIFT_BY_NAME,
    LOW_STOCK,
    SALES,
    TEXT_FIELDS,
    YES,
    Phrase,
    field_weight,
    inverse_document_frequency,
    length_norm,
    lift,
    lift_by_share,
    newness_share,
    phrase_of,
    phrases,
    sales_share,
    saturated,
    stock_share,
)
from app.domain.search.ranking_settings import Weight
from app.domain.search.text import LINKING_WORDS
from app.domain.search.word_forms import root

Scores = npt.NDArray[np.float32]
AnyDocs = npt.NDArray[np.int32] | Docs
FieldScores = tuple[AnyDocs, npt.NDArray[np.float64]]
Shares = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matches:
    """Documents in rising order, what each scores, and in which fields each was found (bit i: FIELDS[i])."""

    docs: Docs
    scores: Scores
    fields: npt.NDArray[np.uint16]

    def size_in_bytes(self) -> int:
        return self.docs.nbytes + self.scores.nbytes + self.fields.nbytes


def field_scores(view: View, field: str, term: str) -> FieldScores | None:
    """Return (documents, scores) of a term in one field, without the field's weight."""
    postings = view.postings(field, term.encode())
    if postings is None:
        return None
    return _scored(view, field, *postings)


def form_scores(view: View, field: str, forms: Sequence[str]) -> FieldScores | None:
    """Return (documents, scores) of the forms of a word in one text field, counted as one word, without the field's
    weight."""
    found = [postings for form in forms if (postings := view.postings(field, form.encode())) is not None]
    if len(found) < 2:
        return _scored(view, field, *found[0]) if found else None
    frequencies = np.zeros(view.size, np.float32)
    for docs, counts in found:
        frequencies[docs] += counts
    united = np.flatnonzero(frequencies != 0)
    return _scored(view, field, united, frequencies[united])


def _scored(view: View, field: str, docs: AnyDocs, frequencies: npt.NDArray[np.float32]) -> FieldScores:
    # Without what is deleted: else the words of products that were just saved count less until segments are merged.
    holders = len(docs) if view.live is None else np.count_nonzero(view.live[docs])
    idf = inverse_document_frequency(max(view.documents, 1), int(holders))
    if field not in TEXT_FIELDS:
        return docs, np.full(len(docs), idf)
    norms = view.cached(("norms", field), lambda: length_norm(field, BYTE_LENGTHS, view.average_length(field)))
    return docs, idf * saturated(frequencies, norms[view.length_bytes(field)[docs]])


def word_matches(view: View, word: str) -> Matches:
    """Return the live documents that have a word in any field, with its scores summed over the fields."""
    return view.recent(("word", word), lambda: _word_matches(view, word), Matches.size_in_bytes)


def _word_matches(view: View, term: str) -> Matches:
    totals = np.zeros(view.size, np.float32)
    found = np.zeros(view.size, np.uint16)
    for bit, field in enumerate(FIELDS):
        scored = field_scores(view, field, term)
        if scored is not None:
            holders, scores = scored
            totals[holders] += field_weight(field) * scores
            found[holders] |= np.uint16(1 << bit)
    return _live_matches(view, totals, found)


def _live_matches(view: View, totals: Scores, found: npt.NDArray[np.uint16]) -> Matches:
    if view.live is not None:
        found *= view.live
    docs = np.flatnonzero(found != 0)  # Numpy finds what is true nine times sooner than numbers that are not 0.
    return Matches(docs, totals[docs], found[docs])


def with_forms(view: View, word: str) -> Matches:
    """Return the live documents that have a word or another form of it."""
    shared = root(word)
    if shared is None:
        return word_matches(view, word)
    own = word_matches(view, word)

    def formed() -> Matches:
        forms = view.forms(shared)
        if set(forms) <= {word}:
            return own
        others = _form_matches(view, forms)
        return unite(view, [(own, 1.0), (others, FORM_WORTH)]) if len(others.docs) else own

    return view.recent(("with forms", word), formed, lambda match: 0 if match is own else match.size_in_bytes())


def _form_matches(view: View, forms: Sequence[str]) -> Matches:
    """Return the live documents that have any of the forms of a word in a text, as if they were one word."""
    totals = np.zeros(view.size, np.float32)
    found = np.zeros(view.size, np.uint16)
    for bit, field in enumerate(TEXT_FIELDS):
        scored = form_scores(view, field, forms)
        if scored is not None:
            holders, scores = scored
            totals[holders] += field_weight(field) * scores
            found[holders] |= np.uint16(1 << bit)
    return _live_matches(view, totals, found)


def unite(view: View, parts: Iterable[tuple[Matches, float]]) -> Matches:
    """Return the documents of any of the matches, each with the largest of its scores times the worth of the match."""
    totals = np.zeros(view.size, np.float32)
    fields = np.zeros(view.size, np.uint16)
    for match, worth in parts:
        totals[match.docs] = np.maximum(totals[match.docs], np.float32(worth) * match.scores)
        fields[match.docs] |= match.fields
    docs = np.flatnonzero(fields != 0)
    return Matches(docs, totals[docs], fields[docs])


def member_mask(view: View, match: Matches, docs: Docs) -> Mask:
    """Return the mask of those among `docs` that match."""
    if len(docs) * 64 < view.size and len(match.docs):
        places = np.minimum(match.docs.searchsorted(docs), len(match.docs) - 1)
        return np.equal(match.docs[places], docs)
    mask = np.zeros(view.size, np.bool_)
    mask[match.docs] = True
    return mask[docs]


def scores_at(view: View, match: Matches, docs: Docs) -> Scores:
    """Return the scores of a word at `docs`, zero where it is not found."""
    if not len(match.docs) or not len(docs):
        return np.zeros(len(docs), np.float32)
    if len(docs) * 64 < view.size:
        places = np.minimum(match.docs.searchsorted(docs), len(match.docs) - 1)
        return np.where(match.docs[places] == docs, match.scores[places], np.float32(0))
    dense = np.zeros(view.size, np.float32)
    dense[match.docs] = match.scores
    return dense[docs]


def place_of(docs: npt.NDArray[np.integer], doc: int) -> int | None:
    """Return the position of a document among documents in rising order; None where it is not among them."""
    at = int(docs.searchsorted(doc))
    return at if at < len(docs) and docs[at] == doc else None


@dataclass(frozen=True, slots=True)
class Lift:
    """A factor for the score of each matching document. `kind` is that of the score part that explains it."""

    kind: str
    factors: Scores


def lifts_of(view: View, request: SearchRequest, words: Sequence[str], docs: Docs, scores: Scores) -> tuple[Lift, ...]:
    """Return the lifts of matching documents, in the order in which they are applied. `words` are those that were
    searched in the end, `scores` what the documents score without lifts."""
    if not len(docs):
        return ()
    # A site's optional words may be part of a name, so all words are tried first.
    may_be_names = phrase_of(words), phrase_of(words, LINKING_WORDS | request.optional)
    return (
        *_kind_lifts(view, may_be_names, docs, scores),
        *_signal_lifts(view, request, docs),
        *_learned_lifts(view, request, docs),
    )


def _kind_lifts(view: View, may_be_names: Sequence[Phrase], docs: Docs, scores: Scores) -> Iterator[Lift]:
    """Yield the lifts of the kind of product that the words mean. A level that they name has that lift alone; of the
    phrases that may be names the first that is one counts."""
    by_share = _factors_by_share(view, docs, scores)
    found = (_level_name_mask(view, phrase, docs) for phrase in dict.fromkeys(may_be_names))
    named = next((mask for mask in found if mask is not None), None)
    if by_share is not None:
        yield Lift("level", by_share if named is None else np.where(named, np.float32(1), by_share))
    if named is not None:
        yield Lift("level_name", np.where(named, np.float32(LIFT_BY_NAME), np.float32(1)))


def _factors_by_share(view: View, docs: Docs, scores: Scores) -> Scores | None:
    """Return the factor for the score of each document by its level's share in the first results; None for no
    change."""
    kinds = facet_of(view, KIND)
    levels = kinds.codes[docs]
    first = _first_results(scores)
    evidence = np.bincount(levels[first], scores[first].astype(np.float64) ** 2, kinds.entries)
    evidence[0] = 0  # Documents without a level.
    total = evidence.sum()
    if not total:
        return None
    by_doc: Scores = lift_by_share(evidence, total).astype(np.float32)[levels]
    return by_doc


def _first_results(scores: Scores) -> npt.NDArray[np.intp]:
    """Return the places of the first results; of equals those that come first."""
    if len(scores) <= FIRST_RESULTS:
        return np.arange(len(scores))
    last = np.partition(scores, -FIRST_RESULTS)[-FIRST_RESULTS]
    above, equal = np.flatnonzero(scores > last), np.flatnonzero(scores == last)
    return np.concatenate((above, equal[: FIRST_RESULTS - len(above)]))


def _level_name_mask(view: View, phrase: Phrase, docs: Docs) -> Mask | None:
    """Return the mask of those among `docs` whose level the phrase names; None for none. Documents of an index that was
    made before it kept the names of levels have none."""
    names = view.cached("names by phrase", lambda: _names_by_phrase(view)).get(phrase)
    if names is None:
        return None
    mask = view.recent(("named", phrase), lambda: value_mask(view, KIND_NAMES, names), lambda mask: mask.nbytes)[docs]
    return mask if mask.any() else None


def _names_by_phrase(view: View) -> Mapping[Phrase, list[str]]:
    """Return the names of the levels of a view's documents, by the phrases that mean them."""
    names = facet_of(view, KIND_NAMES).names

    def by_phrase() -> Mapping[Phrase, list[str]]:
        found: dict[Phrase, list[str]] = {}
        for name in names:
            for phrase in phrases([name]):
                found.setdefault(phrase, []).append(name)
        return found

    return view.lasting("names by phrase", names, by_phrase)


def _signal_lifts(view: View, request: SearchRequest, docs: Docs) -> Iterator[Lift]:
    """Yield the lifts by sales, newness and stock, without signals that make no difference."""
    for kind, weight in request.ranking.weights.items():
        if weight is not Weight.NONE:
            shares = _SHARES[kind](view, request)
            if shares is not None:
                yield Lift(kind, np.asarray(lift(weight, shares[docs]), np.float32))


def in_stock(view: View) -> Mask:
    """Return the mask of documents that are in stock."""
    return view.cached("in stock", lambda: facet_of(view, IN_STOCK).mask((YES,)))


def _sales(view: View, _request: SearchRequest) -> Shares | None:
    """Return the share of each document by its sales; None for an index without sales."""

    def shares() -> Shares | None:
        logarithms = np.log1p(np.nan_to_num(view.numbers(SALES)))
        if view.live is not None:
            logarithms = logarithms * view.live
        largest = float(logarithms.max(initial=0.0))
        return np.asarray(sales_share(logarithms, largest), np.float64) if largest else None

    return view.cached("sales", shares)


def _newness(view: View, request: SearchRequest) -> Shares:
    """Return the share of each document by its age on the day of the request."""

    def shares() -> Shares:
        created = view.numbers(CREATED)
        return np.nan_to_num(np.asarray(newness_share(created, request.day), np.float64))

    return view.recent(("newness", request.day), shares, lambda made: made.nbytes)


def _stock(view: View, _request: SearchRequest) -> Shares:
    """Return the share of each document by its stock."""

    def shares() -> Shares:
        has_few = ~np.isnan(view.numbers(LOW_STOCK))
        return np.asarray(stock_share(in_stock(view).astype(np.float64), has_few), np.float64)

    return view.cached("stock", shares)


_SHARES: Mapping[str, Callable[[View, SearchRequest], Shares | None]] = {
    "sales": _sales,
    "newness": _newness,
    "stock": _stock,
}


def _learned_lifts(view: View, request: SearchRequest, docs: Docs) -> Iterator[Lift]:
    """Yield the lifts that clicks taught for a search, of products and of levels, where the request has them."""
    learned = request.learned
    if learned.documents:
        factors: Scores = np.ones(len(docs), np.float32)
        for document_id, factor in learned.documents:
            doc = view.document_of(document_id)
            place = None if doc is None else place_of(docs, doc)
            if place is not None:
                factors[place] = factor
        yield Lift("learned", factors)
    if learned.levels:
        factors = np.ones(len(docs), np.float32)
        for level, factor in learned.levels:
            carries = value_mask(view, KIND, [level])[docs]
            factors[carries] = np.maximum(factors[carries], np.float32(factor))
        yield Lift("learned_level", factors)

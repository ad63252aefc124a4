"""Suggest synonyms from rephrased searches: visits that searched one word and opened nothing, then searched another and
opened something. Pure.

One shopper, or one program, must not make a suggestion: it takes visits of several weeks, and more than one network
makes in two of them, since it counts once a day for a pair. Two things that one visit looks for are no pair: the second
search must follow the first far more often than shoppers search it anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rapidfuzz.distance import OSA

from app.domain.relevance.synonyms.candidate import Candidate
from app.domain.search.serving.synonyms import SynonymType
from app.domain.search.text import tokens
from app.domain.search_statistics.counting.aggregation import Rephrased
from app.domain.shared.counting_memory import WEEK
from app.domain.shared.folding import fold

LEAST_VISITS = 2 * WEEK + 1
LEAST_WEEKS = 2
LEAST_SHARE = 0.1  # Of the searches of the first word.
ABOVE_CHANCE = 3.0  # Times as often as the next word is searched anyway,
ENOUGH_SHARE = 0.5  # save where every second search of the word goes on to the next.


def is_evidence(pair: Rephrased) -> bool:
    """Whether enough visits rephrased the one search as the other for a synonym to be suggested."""
    share = max(LEAST_SHARE, min(ENOUGH_SHARE, ABOVE_CHANCE * pair.popularity))
    is_spread = pair.visits >= LEAST_VISITS and pair.weeks >= LEAST_WEEKS
    return is_spread and 0 < share * pair.followed <= pair.visits


def candidates_of(pairs: Iterable[Rephrased]) -> Iterator[Candidate]:
    """Yield the candidates of the pairs that are evidence, in their order. Words rephrased in both directions are
    equivalent."""
    known = {(pair.word, pair.next_word): pair for pair in pairs if is_evidence(pair)}
    for (word, next_word), pair in known.items():
        back = known.get((next_word, word))
        if back is None:
            yield Candidate(SynonymType.ONE_WAY, word, (next_word,), _evidence(pair))
        elif (pair.visits, word) >= (back.visits, next_word):
            yield Candidate(SynonymType.EQUIVALENT, None, (word, next_word), _evidence(pair))


def _evidence(pair: Rephrased) -> dict[str, object]:
    visits = {"visits": pair.visits, "visitWeeks": pair.weeks, "nextWord": pair.next_word}
    return {"reason": _reason(pair.word, pair.next_word), "word": pair.word} | visits


def _reason(word: str, next_word: str) -> str:
    """Return `spelling` for one slip, `joined` for a space more or less, `visits` for other words."""
    if tokens(word) != tokens(next_word) and "".join(tokens(word)) == "".join(tokens(next_word)):
        return "joined"
    return "spelling" if OSA.distance(fold(word), fold(next_word)) <= 1 else "visits"

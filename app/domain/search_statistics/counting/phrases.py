"""Match searches that contain a phrase, with the word forms of search itself. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.domain.search import text
from app.domain.search.plurals import SINGULARS
from app.domain.shared.folding import fold


class PhraseMatcher:
    """Predicate over counted words: contains the words of any of `phrases` side by side, in singular or plural."""

    def __init__(self, phrases: Iterable[str]) -> None:
        stems = {tuple(text.words(phrase)) for phrase in phrases} - {()}
        self._runs = tuple(sorted(f" {' '.join(run)} " for run in stems))
        self._hints = tuple(sorted({hint for run in stems for hint in _hints(run[0])}))

    def __call__(self, word: str) -> bool:
        folded = fold(word)
        if not any(hint in folded for hint in self._hints):  # Most words end here, before they are cut up.
            return False
        line = f" {' '.join(text.words(word))} "
        return any(run in line for run in self._runs)


def _hints(stem: str) -> Iterator[str]:
    """Yield texts of which every form of a word has one: what its regular forms begin with, and its other plurals."""
    yield stem.removesuffix("y")
    yield from (plural for plural, singular in SINGULARS.items() if singular == stem and not plural.startswith(stem))

"""Match searches that contain a phrase, with the word forms of search itself. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.search import text
from app.domain.shared.folding import fold


class PhraseMatcher:
    """Predicate over counted words: contains the words of any of `phrases` side by side, in singular or plural."""

    def __init__(self, phrases: Iterable[str]) -> None:
        stems = {tuple(text.words(phrase)) for phrase in phrases} - {()}
        self._runs = tuple(sorted(f" {' '.join(run)} " for run in stems))
        self._hints = tuple(sorted({run[0].removesuffix("y") for run in stems}))

    def __call__(self, word: str) -> bool:
        folded = fold(word)
        if not any(hint in folded for hint in self._hints):  # Most words end here, before they are cut up.
            return False
        line = f" {' '.join(text.words(word))} "
        return any(run in line for run in self._runs)

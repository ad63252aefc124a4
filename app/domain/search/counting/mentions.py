"""Which searches contain one of some phrases, as search itself reads words. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.search import text


class Mentions:
    """Says of a counted word whether any of `phrases` is in it: its words side by side, in any number."""

    def __init__(self, phrases: Iterable[str]) -> None:
        stems = {tuple(text.words(phrase)) for phrase in phrases} - {()}
        self._runs = tuple(sorted(f" {' '.join(run)} " for run in stems))
        self._hints = tuple(sorted({run[0].removesuffix("y") for run in stems}))

    def __call__(self, word: str) -> bool:
        folded = text.fold(word)
        if not any(hint in folded for hint in self._hints):  # Most words end here, before they are cut up.
            return False
        line = f" {' '.join(text.words(word))} "
        return any(run in line for run in self._runs)

"""The longer words that an unfinished one may become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.domain.search.ranking.query import COMPLETIONS, COMPLETIONS_TYPED, completions


class FiftyWords:
    """A vocabulary of `camaa` to `camxb`, of which each is as common as its place, and of codes."""

    words = tuple(f"cam{first}{second}" for first in "abcdefghijklmnopqrstuvwxy" for second in "ab")

    def frequency(self, word: str) -> int:
        return self.words.index(word)

    def known(self, words: set[str]) -> set[str]:
        return words & set(self.words)

    def beginning_with(self, beginning: str) -> set[str]:
        return {word for word in self.words if word.startswith(beginning)}

    def codes_beginning_with(self, beginning: str, limit: int) -> Sequence[str]:
        return [f"{beginning}-{number}" for number in range(100, 200)][:limit]

    def near(self, word: str, edits: int, limit: int) -> Iterable[str]:
        return []

    def documents_with(self, words: Sequence[str]) -> int:
        return 1


def test_a_finished_search_may_go_on_as_the_forty_commonest_words_and_one_that_is_typed_as_eight() -> None:
    commonest = FiftyWords.words[::-1]
    assert completions("cam", FiftyWords()) == list(commonest[:COMPLETIONS])
    assert completions("cam", FiftyWords(), is_typing=True) == list(commonest[:COMPLETIONS_TYPED])


def test_codes_fill_up_what_words_leave_free() -> None:
    typed = completions("cama", FiftyWords(), is_typing=True)
    assert typed == ["camab", "camaa", *(f"cama-{number}" for number in range(100, 106))]


def test_one_letter_begins_too_many_words() -> None:
    assert completions("c", FiftyWords()) == []

"""The root that the forms of a word share."""

from __future__ import annotations

import threading

import pytest

from app.domain.search.text import stem
from app.domain.search.word_forms import root
from tests.inflections import INFLECTIONS


@pytest.mark.parametrize("forms", INFLECTIONS, ids=lambda forms: forms[0])
def test_the_forms_of_a_word_share_a_root(forms: tuple[str, ...]) -> None:
    assert len({root(stem(form)) for form in forms}) == 1
    assert root(stem(forms[0])) is not None


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("news", "new"), ("printing", "printer"), ("control", "controller"), ("universe", "universal"),
        ("university", "universe"), ("business", "busy"), ("silicone", "silicon"), ("suite", "suit"),
        ("stocking", "stock"), ("wireless", "wire"), ("internal", "international"), ("policy", "police"),
        ("evening", "even"), ("product", "productivity"), ("bearing", "bear"), ("marvell", "marvel"),
        ("gaming", "game"), ("past", "paste"), ("converse", "conversation"), ("organ", "organic"),
        ("computing", "computer"),
    ],
)  # fmt: skip
def test_words_that_only_look_like_forms_of_one_another_are_two(word: str, other: str) -> None:
    assert None in (root(word), root(other)) or root(word) != root(other)


@pytest.mark.parametrize("word", ["tv", "mop", "use", "rj45", "17ab", "1080p", "b12345", "with", "from"])
def test_short_words_codes_and_linking_words_have_no_other_forms(word: str) -> None:
    assert root(word) is None


def test_words_that_no_rule_of_english_reads_are_their_own_root() -> None:
    assert [root(word) for word in ("rucksack", "größe", "кофе", "コーヒー豆")] == [
        "rucksack",
        "größe",
        "кофе",
        "コーヒー豆",
    ]


def test_threads_may_read_words_at_once() -> None:
    words = [first + last for first in "abcdefgh" for last in ("aking", "iking", "ending", "itting", "unning")]
    found: list[list[str | None]] = []
    expected = [root.__wrapped__(word) for word in words]
    threads = [
        threading.Thread(target=lambda: found.append([root.__wrapped__(word) for word in words])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4

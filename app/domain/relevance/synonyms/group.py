"""Validation of a synonym: pure. Words are compared as search reads them, so that “phones” and “Phone” are one word."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.domain.search import text
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import line_problems, one_line

MOST_WORDS = 20  # Of a group, its root aside (contracts: Synonyms).
MOST_TOKENS = 5
MOST_GROUPS = 1_000
LONGEST_WORD = 200
SEPARATORS = (",", ";")  # Lists of words are written with these.

Key = tuple[str, ...]


@dataclass(slots=True)
class Taken:
    """The words of groups by key, so that a thousand groups are checked against each other without comparing every
    pair."""

    equivalent: dict[Key, SynonymGroup] = field(default_factory=dict)
    roots: dict[Key, SynonymGroup] = field(default_factory=dict)

    @classmethod
    def by(cls, groups: Iterable[SynonymGroup]) -> Taken:
        taken = cls()
        for group in groups:
            taken.add(group)
        return taken

    def add(self, group: SynonymGroup) -> None:
        if group.type.has_root:
            self.roots[key(group.root or "")] = group
        else:
            self.equivalent |= {key(word): group for word in group.words}

    def remove(self, group: SynonymGroup) -> None:
        if group.type.has_root:
            self.roots.pop(key(group.root or ""), None)
        for word in () if group.type.has_root else group.words:
            self.equivalent.pop(key(word), None)

    def met_by(self, group: SynonymGroup) -> list[SynonymGroup]:
        """Return the groups with which this one conflicts, each once."""
        if group.type.has_root:
            found = [self.roots.get(key(group.root or ""))]
        else:
            found = [self.equivalent.get(key(word)) for word in group.words]
        return list(dict.fromkeys(other for other in found if other is not None))


def key(word: str) -> Key:
    """Return the key of a word, equal for all words that are one to search; empty for one that search cannot read."""
    return text.query_words(word)


def split_words(typed: str) -> list[str]:
    """Split a text into words at commas, semicolons and line ends; empty ones are left out."""
    for separator in SEPARATORS:
        typed = typed.replace(separator, "\n")
    return [word for line in typed.split("\n") if (word := one_line(line))]


def check(group: SynonymGroup, others: Iterable[SynonymGroup] | Taken) -> SynonymGroup:
    """The group, tidied. `others` are the site's live groups but for this one. Raises Invalid with every problem;
    pointers are `#/root` and `#/synonyms/2`."""
    root = one_line(group.root) or None if group.root else None
    clean = SynonymGroup(group.type, root, tuple(map(one_line, group.words)))
    problems = [*_shape_problems(clean), *_word_problems(clean), *_repeated(clean)]
    if not problems:
        problems = list(_conflicts(clean, others if isinstance(others, Taken) else Taken.by(others)))
    if problems:
        raise Invalid(problems)
    return clean


def fingerprint(group: SynonymGroup) -> str:
    """Return a digest of 64 characters, the same for every way to write the group down."""
    named = [group.type.value, key(group.root or ""), sorted(key(word) for word in group.words)]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def words_digest(group: SynonymGroup) -> str:
    """Return a digest of 64 characters, the same for every group of the same words, whatever its type and root."""
    named = sorted(key(word) for _, word in _named(group))
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _shape_problems(group: SynonymGroup) -> Iterable[Problem]:
    one_way = group.type.has_root
    if one_way and not group.root:
        yield Problem("required", "Say which word shoppers search for.", "#/root")
    if not one_way and group.root:
        yield Problem("root_not_used", "Words that find each other have no word in front of them.", "#/root")
    if len(group.words) < (1 if one_way else 2):
        needed = "Give at least one word that it finds too." if one_way else "Give at least two words."
        yield Problem("too_few_words", needed, "#/synonyms")
    if len(group.words) > MOST_WORDS:
        message = f"A synonym has at most {MOST_WORDS} words; these are {len(group.words):,}."
        yield Problem("too_many_words", message, "#/synonyms")


def _named(group: SynonymGroup) -> list[tuple[str, str]]:
    """Each word of the group with its pointer."""
    words = [(f"#/synonyms/{index}", word) for index, word in enumerate(group.words[: MOST_WORDS + 1])]
    return [("#/root", group.root), *words] if group.root else words


def _word_problems(group: SynonymGroup) -> Iterable[Problem]:
    for pointer, word in _named(group):
        shown = f"“{word[:60]}”"
        yield from line_problems(word, shown, LONGEST_WORD, pointer)
        if any(separator in word for separator in SEPARATORS):
            yield Problem("separator_in_word", f"{shown} contains a comma or a semicolon.", pointer)
        tokens = len(text.tokens(word))
        if tokens == 0:
            yield Problem(
                "no_word", f"{shown} has neither letters nor digits." if word else "A word is empty.", pointer
            )
        elif tokens > MOST_TOKENS:
            message = f"{shown} is {tokens} words long; at most {MOST_TOKENS} stand together."
            yield Problem("too_many_tokens", message, pointer)


def _repeated(group: SynonymGroup) -> Iterable[Problem]:
    seen: dict[Key, str] = {}
    for pointer, word in _named(group):
        first = seen.get(key(word))
        if first is None:
            seen[key(word)] = word
        elif key(word):
            same = f"“{word[:60]}” is here twice."
            alike = f"“{first[:60]}” and “{word[:60]}” are one word to search."
            yield Problem("repeated_word", same if first == word else alike, pointer)


def _conflicts(group: SynonymGroup, others: Taken) -> Iterable[Problem]:
    if group.type.has_root:
        other = others.roots.get(key(group.root or ""))
        if other is not None:
            message = f"“{group.root}” has a synonym already: {other}. Add the words to that one."
            yield Problem("root_taken", message, "#/root")
        return
    for pointer, word in _named(group):
        other = others.equivalent.get(key(word))
        if other is not None:
            yield Problem("word_taken", f"“{word}” is in another synonym already: {other}.", pointer)

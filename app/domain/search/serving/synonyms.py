"""Synonyms as values without a database, so that any change can be previewed before it is saved; with the declaration
of a synonym's fields, by which forms, tables, bundles, history and tools read and write it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from types import MappingProxyType
from typing import Annotated, Any, ClassVar
from zoneinfo import ZoneInfo

from app.domain.search.engine import Alternatives
from app.domain.search.text import MAX_CHARACTERS, query_words, quoted_words, stem, tokens
from app.domain.search.word_forms import root
from app.domain.shared.record_fields import (
    Cells,
    ChoiceField,
    DeclaredRecord,
    ListField,
    TextField,
    TypedForm,
)
from app.domain.shared.text import one_line

MOST_TOKENS = 5  # Words of an expression that a group widens; longer ones widen nothing (contracts: Synonyms).
MOST_WORDS = 20  # Of a group, its root aside (contracts: Synonyms).
LONGEST_WORD = 200
SEPARATORS = (",", ";")  # Lists of words are written with these.
MOST_ANSWERS = 120  # Alternatives of one search in all, so that 16 words in groups of 20 do not take long.

Run = tuple[str, ...]


class SynonymType(StrEnum):
    """EQUIVALENT: each word finds the others. ONE_WAY: the root finds the other words, which do not find it."""

    EQUIVALENT = "EQUIVALENT"
    ONE_WAY = "ONE_WAY"

    @property
    def has_root(self) -> bool:
        """Whether one word of the group, its root, finds the others and not back."""
        return self is SynonymType.ONE_WAY

    @property
    def label(self) -> str:
        return LABELS[self]


LABELS = {SynonymType.EQUIVALENT: "both ways", SynonymType.ONE_WAY: "one way"}


def split_words(typed: str) -> list[str]:
    """Split a text into words at commas, semicolons and line ends; empty ones are left out."""
    for separator in SEPARATORS:
        typed = typed.replace(separator, "\n")
    return [word for line in typed.split("\n") if (word := one_line(line))]


@dataclass(frozen=True, slots=True)
class WordsField(ListField):
    """The words of a group, in forms with commas between, in tables with semicolons."""

    is_typed: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        return ("words",)

    def tidy(self, value: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(one_line, value))

    def cells(self, raw: Iterable[str]) -> tuple[str, ...]:
        return (";".join(raw),)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        sent[self.key] = split_words(cells.get("words", ""))

    def as_typed(self, value: Iterable[str], zone: ZoneInfo) -> tuple[str, ...]:
        return (", ".join(value),)

    def of_typed(self, form: TypedForm) -> tuple[str, ...]:
        return tuple(split_words(form.texts["words"]))


@dataclass(frozen=True, slots=True)
class SynonymGroup(DeclaredRecord):
    """`root` only where the type is ONE_WAY. `id` is None for a group that is not saved yet. Fields behind `id` do not
    tell one group from another."""

    type: Annotated[
        SynonymType,
        ChoiceField(
            "kind",
            choices=tuple(SynonymType),
            shown=LABELS,
            kind=SynonymType,
            is_required=True,
            argument=(
                "EQUIVALENT: each of the words finds the others. ONE_WAY: `root` also finds the words, not back. For "
                "list: only these."
            ),
        ),
    ]
    root: Annotated[
        str | None,
        TextField(
            "shoppers search", is_nullable=True, argument="For ONE_WAY: the word shoppers search for. Example: “phone”."
        ),
    ]
    words: Annotated[
        tuple[str, ...],
        WordsField(
            "words",
            "synonyms",
            is_required=True,
            argument=(
                f"The words, at least two (for ONE_WAY one), {MOST_WORDS} at most. Each is a word or an expression of "
                f"up to {MOST_TOKENS} words and {LONGEST_WORD} characters, without commas. Search matches with "
                'stemming, so one form of a word is enough. Example: ["mobile", "cell phone"].'
            ),
        ),
    ]
    id: int | None = None

    def __str__(self) -> str:
        """Return the group as people write it: “mobile = cell phone”, “phone → mobile, cell phone”."""
        if self.type.has_root:
            return f"{self.root} → {', '.join(self.words)}"
        return " = ".join(self.words)


SYNONYM = SynonymGroup.schema()


@dataclass(frozen=True, slots=True)
class AppliedSynonym:
    """A group that widens a search: `typed` is the expression as the shopper wrote it, `others` are those that it finds
    besides, as the group writes them."""

    group: SynonymGroup
    typed: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expansion:
    """The expansion of a search by synonyms: for the engine, and for people to read."""

    alternatives: tuple[Alternatives, ...] = ()
    applied: tuple[AppliedSynonym, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """The other expressions of a group, for one of them."""

    group: SynonymGroup
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynonymSet:
    """The synonym groups of a site, by the words as they are indexed, and by the roots of these: a group that has no
    form of its own for what was typed answers for another form."""

    groups: tuple[SynonymGroup, ...] = ()
    _entries: Mapping[Run, tuple[_Entry, ...]] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    _by_roots: Mapping[Run, tuple[_Entry, ...]] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    @classmethod
    def of(cls, groups: Iterable[SynonymGroup]) -> SynonymSet:
        groups = tuple(groups)
        entries: dict[Run, tuple[_Entry, ...]] = {}
        by_roots: dict[Run, tuple[_Entry, ...]] = {}
        for group in groups:
            for run, entry in _entries_of(group):
                entries[run] = (*entries.get(run, ()), entry)
                by_roots[_roots(run)] = (*by_roots.get(_roots(run), ()), entry)
        return cls(groups, MappingProxyType(entries), MappingProxyType(by_roots))

    def with_group(self, group: SynonymGroup) -> SynonymSet:
        """Return the synonyms as if the group were saved, in the place of the one of its id."""
        others = (kept for kept in self.groups if group.id is None or kept.id != group.id)
        return SynonymSet.of((*others, group))

    def without(self, group_id: int) -> SynonymSet:
        return SynonymSet.of(kept for kept in self.groups if kept.id != group_id)

    def expand(self, words: str) -> Expansion:
        """Return the expansion of a search. The longest expressions match first, then from left to right; no word is
        part of two, and none in double quotes is part of any. Alternatives are not expanded again."""
        if not self._entries:
            return Expansion()
        searched = query_words(words)
        quoted = quoted_words(words)
        free = [word not in quoted for word in searched]
        found = sorted(self._found(searched, free))
        each = MOST_ANSWERS // max(len(found), 1)
        written = {stem(token): token for token in reversed(tokens(words[:MAX_CHARACTERS]))}
        alternatives = []
        applied: list[AppliedSynonym] = []
        for place, run in found:
            entries = self._entries_for(run)
            answers = dict.fromkeys(map(query_words, chain.from_iterable(entry.others for entry in entries)))
            alternatives.append(Alternatives(place, len(run), tuple(answers)[:each]))
            typed = " ".join(written[word] for word in run)
            applied += (AppliedSynonym(entry.group, typed, entry.others) for entry in entries)
        return Expansion(tuple(alternatives), tuple(applied))

    def _found(self, searched: Run, free: list[bool]) -> Iterator[tuple[int, Run]]:
        """Yield (place, expression) for each expression among the free words, which are not free from then on."""
        for length in range(min(MOST_TOKENS, len(searched)), 0, -1):
            for place in range(len(searched) - length + 1):
                run = searched[place : place + length]
                if self._entries_for(run) and all(free[place : place + length]):
                    free[place : place + length] = [False] * length
                    yield place, run

    def _entries_for(self, run: Run) -> tuple[_Entry, ...]:
        return self._entries.get(run) or self._by_roots.get(_roots(run), ())


def _roots(run: Run) -> Run:
    return tuple(root(word) or word for word in run)


def _entries_of(group: SynonymGroup) -> Iterator[tuple[Run, _Entry]]:
    if group.type.has_root:
        pairs = [(group.root or "", group.words)]
    else:
        pairs = [(word, tuple(other for other in group.words if other != word)) for word in group.words]
    for word, others in pairs:
        run = query_words(word)
        different = tuple(other for other in others if query_words(other) not in ((), run))
        if run and len(run) <= MOST_TOKENS and different:
            yield run, _Entry(group, different)

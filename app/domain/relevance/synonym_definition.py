"""Definition of a synonym: its state, the checks of a group of words, and the parameters of a list. Pure.

Words are compared as search reads them, so that “phones” and “Phone” are one word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from app.domain.catalogue.listing import LONGEST_WORDS, PAGE_SIZE, page_number, page_size
from app.domain.search import text
from app.domain.search.serving.synonyms import (
    LONGEST_WORD,
    MOST_TOKENS,
    MOST_WORDS,
    SEPARATORS,
    SynonymGroup,
    SynonymType,
)
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import ChoiceField, DeclaredRecord, ObjectField
from app.domain.shared.text import line_problems

LIVE, SUGGESTED, REJECTED = "LIVE", "SUGGESTED", "REJECTED"
MANUAL, AI, MINED = "MANUAL", "AI", "MINED"
MOST_GROUPS = 1_000
WordKey = tuple[str, ...]
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class SynonymState(DeclaredRecord):
    """What was decided about a group of words, and where it comes from."""

    status: Annotated[
        str,
        ChoiceField(
            "state",
            choices=(LIVE, SUGGESTED, REJECTED),
            shown={LIVE: "live", SUGGESTED: "suggested", REJECTED: "rejected"},
            help="LIVE, SUGGESTED or REJECTED.",
        ),
    ] = LIVE
    source: Annotated[
        str,
        ChoiceField(
            "made",
            choices=(MANUAL, AI, MINED),
            shown={MANUAL: "by hand", AI: "suggested by AI", MINED: "suggested by the shop"},
            help="MANUAL, AI or MINED.",
        ),
    ] = MANUAL
    evidence: Annotated[dict[str, Any] | None, ObjectField("evidence")] = None


STATE = SynonymState.schema()


@dataclass(slots=True)
class TakenWords:
    """The words of groups by key, so that a thousand groups are checked against each other without comparing every
    pair."""

    equivalent: dict[WordKey, SynonymGroup] = field(default_factory=dict)
    roots: dict[WordKey, SynonymGroup] = field(default_factory=dict)

    @classmethod
    def of(cls, groups: Iterable[SynonymGroup]) -> TakenWords:
        taken = cls()
        for group in groups:
            taken.add(group)
        return taken

    def add(self, group: SynonymGroup) -> None:
        if group.type.has_root:
            self.roots[word_key(group.root or "")] = group
        else:
            self.equivalent |= {word_key(word): group for word in group.words}

    def remove(self, group: SynonymGroup) -> None:
        if group.type.has_root:
            self.roots.pop(word_key(group.root or ""), None)
        for word in () if group.type.has_root else group.words:
            self.equivalent.pop(word_key(word), None)

    def conflicting(self, group: SynonymGroup) -> list[SynonymGroup]:
        """Return the groups with which this one conflicts, each once."""
        if group.type.has_root:
            found = [self.roots.get(word_key(group.root or ""))]
        else:
            found = [self.equivalent.get(word_key(word)) for word in group.words]
        return list(dict.fromkeys(other for other in found if other is not None))


def word_key(word: str) -> WordKey:
    """Return the key of a word, equal for all words that are one to search; empty for one that search cannot read."""
    return text.query_words(word)


def check_synonym(group: SynonymGroup, others: Iterable[SynonymGroup] | TakenWords) -> SynonymGroup:
    """Return the group trimmed. `others` are the other live groups of the site. Raises Invalid with every problem;
    pointers are `#/root` and `#/synonyms/2`."""
    clean = replace(group.tidied(), id=None)
    problems = [*_shape_problems(clean), *_word_problems(clean), *_repetition_problems(clean)]
    if not problems:
        problems = list(_conflict_problems(clean, others if isinstance(others, TakenWords) else TakenWords.of(others)))
    if problems:
        raise Invalid(problems)
    return clean


def fingerprint(group: SynonymGroup) -> str:
    """Return a digest of 64 characters, the same for every way to write the group down."""
    named = [group.type.value, word_key(group.root or ""), sorted(word_key(word) for word in group.words)]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def words_digest(group: SynonymGroup) -> str:
    """Return a digest of 64 characters, the same for every group of the same words, whatever its type and root."""
    named = sorted(word_key(word) for _, word in _words_with_pointers(group))
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


def _words_with_pointers(group: SynonymGroup) -> list[tuple[str, str]]:
    """Each word of the group with its pointer."""
    words = [(f"#/synonyms/{index}", word) for index, word in enumerate(group.words[: MOST_WORDS + 1])]
    return [("#/root", group.root), *words] if group.root else words


def _word_problems(group: SynonymGroup) -> Iterable[Problem]:
    for pointer, word in _words_with_pointers(group):
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


def _repetition_problems(group: SynonymGroup) -> Iterable[Problem]:
    seen: dict[WordKey, str] = {}
    for pointer, word in _words_with_pointers(group):
        first = seen.get(word_key(word))
        if first is None:
            seen[word_key(word)] = word
        elif word_key(word):
            same = f"“{word[:60]}” is here twice."
            alike = f"“{first[:60]}” and “{word[:60]}” are one word to search."
            yield Problem("repeated_word", same if first == word else alike, pointer)


def _conflict_problems(group: SynonymGroup, others: TakenWords) -> Iterable[Problem]:
    if group.type.has_root:
        other = others.roots.get(word_key(group.root or ""))
        if other is not None:
            message = f"“{group.root}” has a synonym already: {other}. Add the words to that one."
            yield Problem("root_taken", message, "#/root")
        return
    for pointer, word in _words_with_pointers(group):
        other = others.equivalent.get(word_key(word))
        if other is not None:
            yield Problem("word_taken", f"“{word}” is in another synonym already: {other}.", pointer)


class StatusFilter(StrEnum):
    """ANY is for programs: the page shows one status at a time."""

    ANY = ""
    LIVE = "LIVE"
    SUGGESTED = "SUGGESTED"
    REJECTED = "REJECTED"


class SynonymOrder(StrEnum):
    """CHANGED puts the latest change first."""

    CHANGED = "changed"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class SynonymList:
    """The parameters of a page of synonyms; invalid ones of an address get their defaults. `type` None is every type;
    `waiting` keeps only those that are saved and not live yet."""

    words: str = ""
    type: SynonymType | None = None
    status: StatusFilter = StatusFilter.LIVE
    waiting: bool = False
    order: SynonymOrder = SynonymOrder.CHANGED
    page: int = 1
    page_size: int = PAGE_SIZE

    @classmethod
    def read(cls, parameters: Mapping[str, str], status: StatusFilter = StatusFilter.LIVE) -> SynonymList:
        """Read a list from the parameters of an address. `status` is what holds where the address names none."""
        return cls(
            words=" ".join(parameters.get("q", "")[:LONGEST_WORDS].replace("\0", "").split()),
            type=next((kind for kind in SynonymType if kind.value == parameters.get("type")), None),
            status=_choice_of(StatusFilter, parameters.get("status"), status),
            waiting=parameters.get("live") == "no",
            order=_choice_of(SynonymOrder, parameters.get("sort"), SynonymOrder.CHANGED),
            page=page_number(parameters.get("pageNumber") or parameters.get("p")),
            page_size=page_size(parameters.get("pageSize")),
        )

    @property
    def types(self) -> tuple[SynonymType, ...]:
        """The types that there are, to choose from."""
        return tuple(SynonymType)

    @property
    def is_filtered(self) -> bool:
        return bool(self.words or self.type or self.waiting)

    def query(self, **changes: object) -> str:
        """Return the query string of this list with changes; a changed filter or order begins at the first page."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "q": changed.words,
            "type": changed.type or "",
            "status": "" if changed.status is StatusFilter.LIVE else changed.status,
            "live": "no" if changed.waiting else "",
            "sort": "" if changed.order is SynonymOrder.CHANGED else changed.order,
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


def _choice_of(choices: type[Choice], text: str | None, default: Choice) -> Choice:
    return next((choice for choice in choices if choice.value == text), default)

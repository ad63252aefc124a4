"""A suggested synonym: a group with the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.search.serving.synonyms import SynonymType


@dataclass(frozen=True, slots=True)
class Candidate:
    """A synonym to suggest. `evidence` is JSON: `reason` (spelling, joined, plural, brand, attribute, visits or ai),
    `word` (what shoppers searched), `searches` of it in `days` days that found nothing, and `wouldFind`, how many
    products the group would make it find where it `finds` fewer. `visits` searched the word, opened nothing, then
    searched `nextWord` and opened something, in `visitWeeks` different weeks."""

    type: SynonymType
    root: str | None
    words: tuple[str, ...]
    evidence: Mapping[str, Any] = field(default_factory=dict)

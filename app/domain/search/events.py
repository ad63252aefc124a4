"""Events that search publishes for the contexts above it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexChangesWaiting:
    site_id: int


@dataclass(frozen=True, slots=True)
class ConfigurationSaved:
    """Synonyms, rules or learned factors of a site were saved and are not served yet."""

    site_id: int


@dataclass(frozen=True, slots=True)
class LearningChanged:
    """The learned factors of a site must be computed anew: its learning mode or the counts that teach were changed, or
    a user requests it."""

    site_id: int

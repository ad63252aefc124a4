"""Events that search publishes for the contexts above it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexChangesWaiting:
    site_id: int


@dataclass(frozen=True, slots=True)
class ConfigurationSaved:
    """Synonyms or rules of a site were saved, or what it learned, and are not served yet."""

    site_id: int


@dataclass(frozen=True, slots=True)
class LearningChanged:
    """A site has to learn anew: the setting that says whether it learns was changed, or which counts teach, or a user
    requests it."""

    site_id: int

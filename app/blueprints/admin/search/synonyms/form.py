"""The form of a synonym: what was typed, kept as text, and what it means."""

from __future__ import annotations

from dataclasses import dataclass, replace

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_revision
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_definition import LONGEST_WORD, split_words
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType


@dataclass(frozen=True, slots=True)
class SynonymForm:
    """The form of a synonym. `root` counts only for the type that has one, so that it survives a change of type and
    back. `revision` 0 is a synonym that is not saved yet."""

    type: SynonymType = SynonymType.EQUIVALENT
    root: str = ""
    words: str = ""
    revision: int = 0

    @classmethod
    def about(cls, word: str) -> SynonymForm:
        """Return the form of a new synonym for a word that shoppers search: the word is its root."""
        word = " ".join(word[:LONGEST_WORD].split())
        return cls(SynonymType.ONE_WAY, word) if word else cls()

    @classmethod
    def of(cls, synonym: Synonym) -> SynonymForm:
        return cls(SynonymType(synonym.type), synonym.root or "", ", ".join(synonym.words), synonym.revision)

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> SynonymForm:
        kind = next((kind for kind in SynonymType if kind.value == sent.get("type")), SynonymType.EQUIVALENT)
        return cls(kind, sent.get("root", ""), sent.get("words", ""), sent_revision(sent))

    def group(self) -> SynonymGroup:
        root = self.root if self.type.has_root else None
        return SynonymGroup(self.type, root, tuple(split_words(self.words)))

    def on(self, revision: int) -> SynonymForm:
        """Return the typed form, to be saved over another revision."""
        return replace(self, revision=revision)

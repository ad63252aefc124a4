"""The Taxonomy part of the product form: what was typed, kept as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import Difference
from app.domain.catalogue.models import Product
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.products.panel import attribute_label, path_label, stored_texts
from app.domain.taxonomy.products.saving import PanelForm

PREFIX = "attr:"
LONGEST_ID = 120
MOST_FIELDS = 2_000  # Ten times what one level may define, so that no form of the shop has more.


@dataclass(frozen=True, slots=True)
class TaxonomyForm:
    """The Taxonomy part of a product's form. `submitted`: the page had that part. `texts` are the texts of the inputs,
    by attribute id."""

    submitted: bool = False
    taxonomy_id: str = ""
    level_id: str = ""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, product: Product) -> TaxonomyForm:
        return cls(level_id=product.taxonomy_level_id or "", texts=stored_texts(product.taxonomy_attributes))

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> TaxonomyForm:
        """Return the sent form. `chosenLevel`, which a button of the level picker sends, takes precedence over the
        level that the form holds."""
        level_id = sent.get("chosenLevel", sent.get("levelId", ""))
        return cls(
            submitted="taxonomyPanelSubmitted" in sent,
            taxonomy_id=_id(sent.get("taxonomyId", "")),
            level_id=_id(level_id),
            texts=typed_texts(sent),
        )

    def panel(self) -> PanelForm | None:
        return PanelForm(self.taxonomy_id, self.level_id, self.texts) if self.submitted else None

    def with_texts(self, more: Mapping[str, tuple[str, ...]]) -> TaxonomyForm:
        return replace(self, texts={**self.texts, **more})

    def differences(self, stored: TaxonomyForm, tree: TaxonomyTree) -> list[Difference]:
        """Return the changes that saving this form would make to a stored classification."""
        if not self.submitted:
            return []
        level = Difference("Level", _level_text(tree, stored.level_id), _level_text(tree, self.level_id))
        names = sorted({*stored.texts, *self.texts}, key=lambda name: attribute_label(tree, name))
        values = [Difference(attribute_label(tree, name), stored.text(name), self.text(name)) for name in names]
        return [one for one in (level, *values) if one.stored != one.typed]

    def text(self, attribute_id: str) -> str:
        return ", ".join(text for text in self.texts.get(attribute_id, ()) if text)


def typed_texts(sent: MultiDict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the texts of the attributes' inputs, by attribute id."""
    names = [name for name in sent if name.startswith(PREFIX)][:MOST_FIELDS]
    return {_id(name.removeprefix(PREFIX)): tuple(_plain(text) for text in sent.getlist(name)) for name in names}


def _plain(text: str) -> str:
    """Return the text with line feeds as line ends, of which browsers make CR LF, and without NUL and outer spaces."""
    return text.replace("\r\n", "\n").replace("\0", "").strip()


def _id(text: str) -> str:
    return text[:LONGEST_ID].replace("\0", "")


def _level_text(tree: TaxonomyTree, level_id: str) -> str:
    return path_label(tree, level_id) or level_id

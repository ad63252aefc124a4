"""What the list and the editor of a kind of content show, and the form in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_id, sent_ids, sent_revision
from app.domain.catalogue.collections import moved
from app.domain.catalogue.content import ContentKind
from app.permissions import Permission


@dataclass(frozen=True, slots=True)
class TextControl:
    """The form's control for a text of the kind: a line, or a text area of so many rows."""

    name: str
    label: str
    help: str = ""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class ContentEditor:
    """The declaration of an editor. `folder` is where its pages stand in the admin; `deletion` says what deleting
    means, `deleted` what to add after it."""

    kind: ContentKind[Any, Any]
    plural: str
    folder: str
    permission: Permission
    lead: str
    none_yet: str
    controls: tuple[TextControl, ...]
    deletion: str
    deleted: str = ""
    address_heading: str = "Address"
    address_controls: tuple[TextControl, ...] = ()
    holds_products: bool = False

    @property
    def noun(self) -> str:
        return self.kind.noun

    @property
    def fields(self) -> dict[str, str]:
        """The names of the texts in the form, by their names in the draft."""
        return {text.name: text.field for text in self.kind.texts} | {
            "seo_name": "seoName",
            "canonical_url": "canonicalUrl",
        }

    @property
    def title(self) -> TextControl:
        return self.controls[0]

    def in_shop(self, seo_name: str) -> str:
        return f"/{self.plural}/{seo_name}"


@dataclass(frozen=True, slots=True)
class ContentForm:
    """The form as it was filled in, its texts by their names in the draft. `product_ids` in their order; `revision` 0
    is a record that is not saved yet."""

    texts: Mapping[str, str]
    enabled: bool = True
    revision: int = 0
    product_ids: tuple[int, ...] = ()

    @classmethod
    def empty(cls, editor: ContentEditor) -> ContentForm:
        return cls(dict.fromkeys(editor.fields, ""))

    @classmethod
    def of(cls, editor: ContentEditor, record: Any) -> ContentForm:
        texts = {name: getattr(record, name) or "" for name in editor.fields}
        product_ids = editor.kind.further(record).get("product_ids", ())
        return cls(texts, record.enabled, record.revision, product_ids)

    @classmethod
    def sent(cls, editor: ContentEditor, sent: MultiDict[str, str]) -> ContentForm:
        texts = {name: sent.get(field, "") for name, field in editor.fields.items()}
        product_ids = tuple(dict.fromkeys(sent_ids(sent, "product")))
        return cls(texts, "enabled" in sent, sent_revision(sent), product_ids)

    def on(self, revision: int) -> ContentForm:
        """The same form, to be saved over another revision."""
        return replace(self, revision=revision)

    def after(self, intent: str) -> ContentForm:
        """The form after a button of its products was pressed: `add:7`, `remove:7`, `up:7` or `down:7`."""
        action, _, number = intent.partition(":")
        product_id = sent_id(number)
        if product_id is None:
            return self
        return replace(self, product_ids=_changed(self.product_ids, action, product_id))

    def draft(self, editor: ContentEditor) -> Any:
        further = {"product_ids": self.product_ids} if editor.holds_products else {}
        return editor.kind.draft(**self.texts, enabled=self.enabled, **further)


def _changed(product_ids: Sequence[int], action: str, product_id: int) -> tuple[int, ...]:
    if action == "add":
        return tuple(dict.fromkeys((*product_ids, product_id)))
    if action == "remove":
        return tuple(other for other in product_ids if other != product_id)
    return moved(product_ids, product_id, {"up": -1, "down": 1}.get(action, 0))

"""List, form and editor of a kind of content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from flask import url_for
from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_differences import Difference
from app.blueprints.admin.form_numbers import sent_ids, sent_number, sent_revision
from app.domain.catalogue.content import ContentKind, move_product
from app.permissions import Permission

PRODUCT_ACTIONS = ("add", "remove", "up", "down", "top", "place")


@dataclass(frozen=True, slots=True)
class TextControl:
    """The form's control for a text of the kind: a line, or a text area of so many rows, of HTML where it
    `is_rich`."""

    name: str
    label: str
    help: str = ""
    rows: int = 0
    is_rich: bool = False


@dataclass(frozen=True, slots=True)
class ContentEditor:
    """The declaration of an editor. `folder` is where its pages stand in the admin; `deletion` says what deleting
    means, `deleted` what to add after it. A kind whose records are listed, added and deleted elsewhere has no list.
    `parts` is what the form holds besides texts and products, drawn by `parts_template`, and by `address_template` in
    the card of the address; `below_template` stands below the form."""

    kind: ContentKind[Any, Any]
    plural: str
    folder: str
    permission: Permission
    controls: tuple[TextControl, ...]
    lead: str = ""
    none_yet: str = ""
    deletion: str = ""
    deleted: str = ""
    address_heading: str = "Address"
    address_controls: tuple[TextControl, ...] = ()
    address_label: str = "SEO name"
    holds_products: bool = False
    products_help: str = ""
    has_list: bool = True
    parts: type[FormParts] | None = None
    parts_template: str = ""
    address_template: str = ""
    below_template: str = ""

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

    def shop_path(self, record: Any) -> str | None:
        """Return the path of a record in the shop; None where shoppers do not see it."""
        return self.in_shop(record.seo_name) if record.enabled else None

    @property
    def address_help(self) -> str:
        return f"The last part of the address, {self.in_shop('…')}"

    def address_of(self, record: Any) -> str:
        """Return the address that `moved` compares after a save; empty for kinds that report no changed address."""
        return ""

    def moved(self, record: Any, old_address: str) -> str | None:
        """Return a warning where a save changed the address of the record, else None."""
        return None

    def back(self, record: Any) -> tuple[str, str]:
        """Return the address and the name of the page to go back to."""
        return url_for(f"admin.{self.plural}_list"), self.plural.capitalize()

    def context(self, record: Any, form: ContentForm) -> dict[str, Any]:
        """Return the further context of the kind's own templates."""
        return {}


class FormParts(Protocol):
    """The parts of a kind's form besides texts and products."""

    @classmethod
    def of(cls, draft: Any) -> Self:
        """Return the parts of a stored record, in the form in which they are sent."""
        ...

    @classmethod
    def sent(cls, sent: MultiDict[str, str]) -> Self: ...

    def after(self, action: str, name: str) -> Self:
        """Return the parts after a button within them was pressed."""
        ...

    def draft(self) -> dict[str, Any]:
        """Return the values of the parts by their names in the draft."""
        ...

    def differences(self, stored: Self) -> list[Difference]: ...


@dataclass(frozen=True, slots=True)
class ContentForm:
    """The form as it was filled in, its texts by their names in the draft. `product_ids` in their order; `revision` 0
    is a record that is not saved yet."""

    texts: Mapping[str, str]
    enabled: bool = True
    revision: int = 0
    product_ids: tuple[int, ...] = ()
    parts: Any = None

    @classmethod
    def empty(cls, editor: ContentEditor) -> ContentForm:
        return cls(dict.fromkeys(editor.fields, ""))

    @classmethod
    def of(cls, editor: ContentEditor, record: Any) -> ContentForm:
        texts = {name: getattr(record, name) or "" for name in editor.fields}
        product_ids = editor.kind.further(record).get("product_ids", ())
        parts = editor.parts.of(editor.kind.draft_of(record)) if editor.parts else None
        return cls(texts, record.enabled, record.revision, product_ids, parts)

    @classmethod
    def sent(cls, editor: ContentEditor, sent: MultiDict[str, str]) -> ContentForm:
        texts = {name: sent.get(field, "") for name, field in editor.fields.items()}
        product_ids = tuple(dict.fromkeys(sent_ids(sent, "product")))
        parts = editor.parts.sent(sent) if editor.parts else None
        return cls(texts, "enabled" in sent, sent_revision(sent), product_ids, parts)

    def on(self, revision: int) -> ContentForm:
        """The same form, to be saved over another revision."""
        return replace(self, revision=revision)

    def after(self, intent: str) -> ContentForm:
        """The form after a button of its products was pressed: `add:7`, `remove:7`, `up:7`, `down:7`, `top:7`, or
        `place:2:7` for the place 2; any other is one of its parts."""
        action, _, number = intent.partition(":")
        if action not in PRODUCT_ACTIONS and self.parts is not None:
            return replace(self, parts=self.parts.after(action, number))
        place, _, product = number.rpartition(":")
        product_id = sent_number(product)
        if product_id is None:
            return self
        return replace(self, product_ids=_changed(self.product_ids, action, product_id, sent_number(place)))

    def draft(self, editor: ContentEditor) -> Any:
        further: dict[str, Any] = {"product_ids": self.product_ids} if editor.holds_products else {}
        if self.parts is not None:
            further |= self.parts.draft()
        return editor.kind.draft(**self.texts, enabled=self.enabled, **further)


def _changed(product_ids: Sequence[int], action: str, product_id: int, place: int | None) -> tuple[int, ...]:
    if action == "add":
        return tuple(dict.fromkeys((*product_ids, product_id)))
    if action == "remove":
        return tuple(other for other in product_ids if other != product_id)
    if action == "top" or (action == "place" and place is not None):
        steps = (place or 0) - product_ids.index(product_id) if product_id in product_ids else 0
        return move_product(product_ids, product_id, steps)
    return move_product(product_ids, product_id, {"up": -1, "down": 1}.get(action, 0))

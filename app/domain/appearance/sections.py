"""The sections of a home page: their kinds, and what each consists of, declared once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar
from zoneinfo import ZoneInfo

from app.domain.appearance.fields import LinkField, PictureField
from app.domain.catalogue.pictures import StoredImage
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import (
    BlockField,
    ChoiceField,
    DeclaredRecord,
    RecordField,
    TextField,
    fields_of,
)
from app.domain.shared.schema import Many, Strict

MOST_SECTIONS = 16


class SectionKind(StrEnum):
    HERO = "hero"
    CATEGORIES = "categories"
    PRODUCTS = "products"
    NEWEST = "newest"
    SALE = "sale"
    COLLECTION = "collection"
    COLLECTIONS = "collections"
    TEXT = "text"


class ProductRule(StrEnum):
    """Which products a section of products shows."""

    FEATURED = "featured"
    LEVEL = "level"
    MANUFACTURER = "manufacturer"


KIND_LABELS: Mapping[SectionKind, str] = {
    SectionKind.HERO: "Hero",
    SectionKind.CATEGORIES: "Categories",
    SectionKind.PRODUCTS: "Products by a rule",
    SectionKind.NEWEST: "Newest products",
    SectionKind.SALE: "Products on sale",
    SectionKind.COLLECTION: "A collection",
    SectionKind.COLLECTIONS: "Links to collections",
    SectionKind.TEXT: "Text with picture",
}
RULE_LABELS: Mapping[ProductRule, str] = {
    ProductRule.FEATURED: "Featured products",
    ProductRule.LEVEL: "Of a taxonomy level",
    ProductRule.MANUFACTURER: "Of a manufacturer",
}
# The heading of a section that has none of its own; a collection is headed by its name.
HEADINGS: Mapping[SectionKind, str] = {
    SectionKind.CATEGORIES: "Shop by category",
    SectionKind.PRODUCTS: "Featured",
    SectionKind.NEWEST: "New in",
    SectionKind.SALE: "On sale",
    SectionKind.COLLECTIONS: "Collections",
}
ONLY_ONCE = (SectionKind.HERO, SectionKind.CATEGORIES, SectionKind.COLLECTIONS)


@dataclass(frozen=True, slots=True)
class Section(DeclaredRecord):
    """A section of the home page; what its kind does not use is empty. `collection` is an SEO name; `rule_value` the id
    of a level or the name of a manufacturer."""

    kind: Annotated[SectionKind, ChoiceField("kind", choices=tuple(SectionKind), kind=SectionKind, is_required=True)]
    heading: Annotated[str, TextField("heading", longest=120)] = ""
    collection: Annotated[str, TextField("collection", longest=200)] = ""
    rule: Annotated[ProductRule, ChoiceField("rule", choices=tuple(ProductRule), kind=ProductRule)] = (
        ProductRule.FEATURED
    )
    rule_value: Annotated[str, TextField("level or manufacturer", longest=200)] = ""
    text: Annotated[str, BlockField("text", longest=2_000)] = ""
    picture: Annotated[StoredImage | None, PictureField("picture")] = None
    link_label: Annotated[str, TextField("button", longest=60)] = ""
    link: Annotated[str, LinkField("address of the button")] = ""

    @property
    def title(self) -> str:
        """The heading that shoppers see, empty where it comes from elsewhere."""
        if self.kind is SectionKind.PRODUCTS and not self.heading and self.rule is ProductRule.MANUFACTURER:
            return f"From {self.rule_value}"
        return self.heading or HEADINGS.get(self.kind, "")


# The home page of a shop that has chosen none.
DEFAULT_SECTIONS = (
    Section(SectionKind.HERO),
    Section(SectionKind.CATEGORIES),
    Section(SectionKind.PRODUCTS),
    Section(SectionKind.NEWEST),
    Section(SectionKind.SALE),
    Section(SectionKind.COLLECTIONS),
)


@dataclass(frozen=True, slots=True)
class SectionsField(RecordField):
    """The sections of the home page in their order."""

    json_type: ClassVar[Any] = list[dict[str, Any]]

    def schema(self) -> Strict:
        return Many(Section.schema(), MOST_SECTIONS)

    def of_json(self, raw: Sequence[Mapping[str, Any]]) -> tuple[Section, ...]:
        return tuple(map(Section.of_json, raw))

    def as_json(self, value: tuple[Section, ...]) -> list[dict[str, Any]]:
        return [section.as_json() for section in value]

    def tidy(self, value: tuple[Section, ...]) -> tuple[Section, ...]:
        return tuple(section.tidied() for section in value)

    def problems(self, value: tuple[Section, ...]) -> list[Problem]:
        if len(value) > MOST_SECTIONS:
            message = f"The home page may have {MOST_SECTIONS} sections at most."
            return [Problem("too_many", message, f"#/{self.key}")]
        found = [*_repeated(value, f"#/{self.key}")]
        for place, section in enumerate(value):
            at = f"#/{self.key}/{place}"
            found += [replace(one, pointer=at + one.pointer.removeprefix("#")) for one in section_problems(section)]
        return found

    def describe(self, raw: Sequence[Mapping[str, Any]] | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: [_summary(Section.of_json(section)) for section in raw or ()]}


def _summary(section: Section) -> str:
    label = KIND_LABELS[section.kind]
    return f"{label} “{section.heading}”" if section.heading else label


def _repeated(sections: Iterable[Section], pointer: str) -> list[Problem]:
    kinds = [section.kind for section in sections]
    return [
        Problem("repeated_section", f"“{KIND_LABELS[kind]}” may stand on the home page once.", pointer)
        for kind in ONLY_ONCE
        if kinds.count(kind) > 1
    ]


def section_problems(section: Section) -> list[Problem]:
    """Return the problems of a section that is tidied, as pointers of its own."""
    found = [problem for each in fields_of(Section) for problem in each.problems(getattr(section, each.name))]
    if section.kind is SectionKind.COLLECTION and not section.collection:
        found.append(Problem("required", "Choose a collection for this section.", "#/collection"))
    if section.kind is SectionKind.PRODUCTS and section.rule is not ProductRule.FEATURED and not section.rule_value:
        found.append(Problem("required", f"Name the {section.rule} whose products are shown.", "#/ruleValue"))
    if section.kind is SectionKind.TEXT and not (section.heading or section.text):
        found.append(Problem("required", "Write a heading or a text for this section.", "#/heading"))
    if bool(section.link) != bool(section.link_label):
        missing = ("link", "an address") if section.link_label else ("linkLabel", "a label")
        found.append(Problem("required", f"A button must have {missing[1]} as well.", f"#/{missing[0]}"))
    return found

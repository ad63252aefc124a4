"""The documents of an index, and the changes of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class IndexName(StrEnum):
    """The two indexes of a site. Each has generations of its own, so a rebuild of one leaves the other."""

    PRODUCTS = "products"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A document of an index: a product, a page or a collection.

    `values` are for filters and facets, each a tuple of one or more strings; `numbers` are for
    ranges and orders (`price` in minor units, `createdAt` in seconds since 1970). `kind` is searched as text;
    `kind_names` are the names of the document's level and of those above it, own and others, by which a search may name
    a level as a whole. `card` comes back with a hit as it was given. `digest` changes whenever another field does.
    """

    id: str
    name: str
    terms: tuple[str, ...] = ()
    manufacturer: str = ""
    kind: str = ""
    kind_names: tuple[str, ...] = ()
    description: str = ""
    attributes: str = ""
    codes: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    card: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Upsert:
    document: IndexDocument


@dataclass(frozen=True, slots=True)
class Delete:
    id: str


Change = Upsert | Delete

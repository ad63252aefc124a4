"""Content that shoppers reach by an address of its own: pages of text, and collections, which are lists of products
made by hand.

Each kind is declared once, as a ContentKind; creating, saving and deleting are the same for all. Call the writing
functions within a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import ScalarSelect, func, literal, null, or_, select
from sqlalchemy.orm import InstrumentedAttribute, selectinload
from sqlalchemy.orm.interfaces import ORMOption

from app.domain.catalogue.listing import PAGE_SIZE
from app.domain.catalogue.markup import clean_html
from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product
from app.domain.catalogue.revisions import TAKEN_MEANWHILE, assign, check_revision, free_seo_name, seo_name_problems
from app.domain.shared.addresses import canonical_problems, slug, slug_problems
from app.domain.shared.author import Author
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.records import contains, existing, find_record, flush_or_conflict
from app.domain.shared.text import block_problems, line_problems, one_line
from app.domain.sites import activity
from app.extensions import db


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentDraft:
    """Content as it was sent. With an empty `seo_name` one is made from the title."""

    seo_name: str = ""
    canonical_url: str | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class ContentText:
    """A text of a kind of content: a line, or a block of HTML. An empty nullable line is stored as None."""

    name: str
    label: str
    longest: int
    required: bool = False
    is_html: bool = False
    is_nullable: bool = False

    @property
    def field(self) -> str:
        """The name in forms and JSON."""
        first, *others = self.name.split("_")
        return first + "".join(word.capitalize() for word in others)

    def tidy(self, text: str | None) -> str | None:
        if self.is_html:
            return text or ""
        return one_line(text or "") or (None if self.is_nullable else "")

    def problems(self, text: str | None) -> list[Problem]:
        pointer = f"#/{self.field}"
        if self.is_html:
            return block_problems(text or "", self.label, self.longest, pointer)
        return line_problems(text or "", self.label, self.longest, pointer, required=self.required)


class ContentRecord(Protocol):
    """The columns that a kind of content has, whatever its table (`Content`, or one that calls them otherwise)."""

    id: Any
    site_id: Any
    seo_name: Any
    canonical_url: Any
    enabled: Any
    revision: Any
    updated_at: Any

    def __init__(self, **values: Any) -> None: ...


Record = TypeVar("Record", bound=ContentRecord)
Draft = TypeVar("Draft", bound=ContentDraft)


class ContentKind(Generic[Record, Draft]):
    """The declaration of a kind of content. A kind that holds more than texts, or whose address is more than a name of
    its own, overrides the last methods."""

    def __init__(self, noun: str, model: type[Record], draft: type[Draft], texts: Sequence[ContentText]) -> None:
        self.noun, self.model, self.draft, self.texts = noun, model, draft, tuple(texts)
        self.fields = ("seo_name", *(text.name for text in texts), "canonical_url", "enabled")

    def title_column(self) -> InstrumentedAttribute[str]:
        """The column of the first text, which names a record."""
        column: InstrumentedAttribute[str] = getattr(self.model, self.texts[0].name)
        return column

    def title_of(self, record: Record | Draft) -> str:
        return str(getattr(record, self.texts[0].name))

    def draft_of(self, record: Record) -> Draft:
        """Return the record as a draft, the form in which it is sent."""
        return self.draft(**{name: getattr(record, name) for name in self.fields}, **self.further(record))

    def drafts_of(self, records: Sequence[Record]) -> list[Draft]:
        """Return the records as drafts, in as many statements however many they are."""
        return [self.draft_of(record) for record in records]

    def logged(self, draft: Draft) -> dict[str, Any]:
        """Return the fields of a draft as JSON, under the names that they have in the activity log."""
        values = {field.name: getattr(draft, field.name) for field in fields(draft)}
        names = {drafted: logged for logged, drafted in self.drafted_as.items()}
        return {names.get(name, name): _as_json(value) for name, value in values.items()}

    def draft_of_logged(self, values: Mapping[str, Any]) -> Draft:
        """Return the draft of fields that are named as in the activity log; others are left out."""
        known = {field.name for field in fields(self.draft)}
        drafted = {self.drafted_as.get(name, name): value for name, value in values.items()}
        lists: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in drafted.items()
        }
        return self.draft(**{name: value for name, value in lists.items() if name in known})

    def further(self, record: Record) -> dict[str, Any]:
        """The values of the draft that are no columns of the record."""
        return {}

    def assign_further(self, record: Record, draft: Draft) -> dict[str, tuple[Any, Any]]:
        """Store the further values; return (before, after) of those that changed, by name."""
        return {}

    def tidy_further(self, draft: Draft) -> Draft:
        return draft

    def further_problems(self, draft: Draft) -> list[Problem]:
        return []

    def name_problems(self, seo_name: str) -> list[Problem]:
        return slug_problems(seo_name, "The SEO name", "#/seoName")

    def stored_problems(self, site_id: int, draft: Draft, own_id: int | None) -> list[Problem]:
        """Return the problems that only the database shows: a name that is taken, further values that are gone."""
        return seo_name_problems(site_id, draft.seo_name, own_id, self.title_column())

    def lock(self, site_id: int, record_id: int) -> None:
        """Lock what a save changes besides the record, before the record itself."""

    def follow(self, author: Author, record: Record, before: dict[str, Any]) -> None:
        """Change what depends on the values that a save changed; `before` holds them by name, as they were."""

    drafted_as: Mapping[str, str] = MappingProxyType({})  # Fields of the draft by other names in the activity log.
    options: tuple[ORMOption, ...] = ()  # What is loaded together with a record.
    # The number of products that a record holds and the first of them, for lists.
    products: ScalarSelect[int] | None = None
    first_product: ScalarSelect[int] | None = None


def clean(
    site_id: int,
    kind: ContentKind[Record, Draft],
    draft: Draft,
    further_problems: Callable[[Draft], list[Problem]] = lambda _tidy: [],
) -> Draft:
    """Return the draft trimmed, its HTML sanitised. Raises Invalid with every problem, also those that
    `further_problems` finds in the trimmed draft."""
    texts: dict[str, Any] = {text.name: text.tidy(getattr(draft, text.name)) for text in kind.texts}
    canonical_url = (draft.canonical_url or "").strip() or None
    tidy = kind.tidy_further(replace(draft, seo_name=draft.seo_name.strip(), canonical_url=canonical_url, **texts))
    title, *others = kind.texts
    problems = [
        *title.problems(getattr(tidy, title.name)),
        *(kind.name_problems(tidy.seo_name) if tidy.seo_name else ()),
        *(problem for text in others for problem in text.problems(getattr(tidy, text.name))),
        *canonical_problems(tidy.canonical_url),
        *kind.further_problems(tidy),
        *further_problems(tidy),
    ]
    if problems:
        raise Invalid(problems)
    html: dict[str, Any] = {
        text.name: clean_html(getattr(tidy, text.name), site_id) for text in kind.texts if text.is_html
    }
    return replace(tidy, **html)


def record_of(kind: ContentKind[Record, Draft], site_id: int, record_id: int, to_change: bool = False) -> Record:
    """Return a record of a kind. Raises NotFound."""
    record = find_record(kind.model, site_id, record_id, to_change, kind.options)
    return existing(record, f"There is no such {kind.noun} on this site.")


def create(author: Author, kind: ContentKind[Record, Draft], draft: Draft) -> Record:
    """Create a record of a kind. Raises Invalid, Conflict."""
    return _add(author, kind, draft, None)


def restore(author: Author, kind: ContentKind[Record, Draft], record_id: int, draft: Draft) -> Record:
    """Create a deleted record again, under the id that it had. Raises Invalid, Conflict."""
    return _add(author, kind, draft, record_id)


def _add(author: Author, kind: ContentKind[Record, Draft], draft: Draft, former_id: int | None) -> Record:
    clean_draft = clean(author.site_id, kind, draft, lambda tidy: kind.stored_problems(author.site_id, tidy, None))
    title = kind.title_of(clean_draft)
    if not clean_draft.seo_name:
        clean_draft = replace(
            clean_draft, seo_name=free_seo_name(author.site_id, slug(title, kind.noun), kind.title_column())
        )
    record = kind.model(id=former_id, site_id=author.site_id, revision=1, updated_at=author.now())
    assign(record, clean_draft, kind.fields)
    kind.assign_further(record, clean_draft)
    db.session.add(record)
    flush_or_conflict(TAKEN_MEANWHILE)
    act, done = ("create", "Added") if former_id is None else ("restore", "Restored")
    after, summary = kind.logged(kind.draft_of(record)), f"{done} the {kind.noun} {title}"
    activity.record(author, f"{kind.noun}.{act}", (kind.noun, str(record.id)), summary, after=after)
    return record


def save(
    author: Author, kind: ContentKind[Record, Draft], record_id: int, revision: int, draft: Draft
) -> tuple[Record, tuple[str, ...]]:
    """Save a record that was read at `revision`; return it and the names of what changed. Raises NotFound,
    StaleRevision, Invalid, Conflict."""
    kind.lock(author.site_id, record_id)
    record = record_of(kind, author.site_id, record_id, to_change=True)
    check_revision(author.site_id, (kind.noun, record.id), record.revision, revision)
    clean_draft = clean(author.site_id, kind, draft, lambda tidy: kind.stored_problems(author.site_id, tidy, record.id))
    before = assign(record, replace(clean_draft, seo_name=clean_draft.seo_name or record.seo_name), kind.fields)
    after = {name: getattr(record, name) for name in before}
    for name, (old, new) in kind.assign_further(record, clean_draft).items():
        before[name], after[name] = old, new
    if before:
        record.revision += 1
        record.updated_at = author.now()
        summary = f"Changed the {kind.noun} {kind.title_of(record)}"
        activity.record(author, f"{kind.noun}.save", (kind.noun, str(record.id)), summary, before, after)
        kind.follow(author, record, before)
    flush_or_conflict(TAKEN_MEANWHILE)
    return record, tuple(before)


def delete(author: Author, kind: ContentKind[Record, Draft], record_id: int) -> str:
    """Remove a record and return its title. Raises NotFound."""
    record = record_of(kind, author.site_id, record_id, to_change=True)
    title, before = kind.title_of(record), kind.logged(kind.draft_of(record))
    db.session.delete(record)
    db.session.flush()
    activity.record(
        author, f"{kind.noun}.delete", (kind.noun, str(record_id)), f"Deleted the {kind.noun} {title}", before
    )
    return title


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class ContentRow:
    """A record in a list; `products` counts what it holds, of which `first_product_id` is the first."""

    id: int
    name: str
    seo_name: str
    enabled: bool
    updated_at: datetime
    products: int
    first_product_id: int | None


def list_content(kind: ContentKind[Record, Draft], site_id: int, words: str, page_number: int) -> Paged[ContentRow]:
    """Return a page of the records whose title or SEO name contains the words, by title."""
    model, title = kind.model, kind.title_column()
    matching = or_(contains(title, words), contains(model.seo_name, words))
    found = select(model.id).where(model.site_id == site_id, matching)
    total = db.session.scalar(found.with_only_columns(func.count())) or 0
    products = literal(0) if kind.products is None else kind.products
    first = null() if kind.first_product is None else kind.first_product
    query = found.with_only_columns(model.id, title, model.seo_name, model.enabled, model.updated_at, products, first)
    rows = db.session.execute(query.order_by(title, model.id).limit(PAGE_SIZE).offset((page_number - 1) * PAGE_SIZE))
    return Paged([ContentRow(*row) for row in rows], page_number, PAGE_SIZE, total)


@dataclass(frozen=True, slots=True)
class PageDraft(ContentDraft):
    """A page as it was sent; `body` is HTML."""

    title: str
    body: str = ""
    meta_description: str | None = None


PAGE = ContentKind(
    "page",
    Page,
    PageDraft,
    (
        ContentText("title", "The title", 200, required=True),
        ContentText("body", "The body", 100_000, is_html=True),
        ContentText("meta_description", "The meta description", 500, is_nullable=True),
    ),
)


MOST_PRODUCTS = 1_000


@dataclass(frozen=True, slots=True)
class CollectionDraft(ContentDraft):
    """A collection as it was sent; `product_ids` in the order in which the shop shows them."""

    name: str
    description: str = ""
    product_ids: tuple[int, ...] = ()


class _CollectionKind(ContentKind[Collection, CollectionDraft]):
    drafted_as = MappingProxyType({"products": "product_ids"})
    options = (selectinload(Collection.entries),)
    products = select(func.count()).where(CollectionEntry.collection_id == Collection.id).scalar_subquery()
    first_product = (
        select(CollectionEntry.product_id)
        .where(CollectionEntry.collection_id == Collection.id)
        .order_by(CollectionEntry.position, CollectionEntry.product_id)
        .limit(1)
        .scalar_subquery()
    )

    def further(self, record: Collection) -> dict[str, Any]:
        return {"product_ids": product_ids_of(record)}

    def assign_further(self, record: Collection, draft: CollectionDraft) -> dict[str, tuple[Any, Any]]:
        """Store the products of a collection and return their change, empty for none. An entry that stays is the same
        record, so that only what moved is written."""
        held = product_ids_of(record)
        if held == draft.product_ids:
            return {}
        known = {entry.product_id: entry for entry in record.entries}
        wanted = []
        for position, product_id in enumerate(draft.product_ids):
            entry = known.get(product_id) or CollectionEntry(site_id=record.site_id, product_id=product_id)
            entry.position = position
            wanted.append(entry)
        record.entries = wanted
        return {"products": (list(held), list(draft.product_ids))}

    def tidy_further(self, draft: CollectionDraft) -> CollectionDraft:
        return replace(draft, product_ids=tuple(dict.fromkeys(draft.product_ids)))

    def further_problems(self, draft: CollectionDraft) -> list[Problem]:
        if len(draft.product_ids) <= MOST_PRODUCTS:
            return []
        return [Problem("too_many", f"A collection holds at most {MOST_PRODUCTS:,} products.", "#/products")]

    def stored_problems(self, site_id: int, draft: CollectionDraft, own_id: int | None) -> list[Problem]:
        taken = super().stored_problems(site_id, draft, own_id)
        return [*taken, *unknown_products(site_id, draft.product_ids[: MOST_PRODUCTS + 1])]


COLLECTION = _CollectionKind(
    "collection",
    Collection,
    CollectionDraft,
    (
        ContentText("name", "The name", 200, required=True),
        ContentText("description", "The description", 50_000, is_html=True),
    ),
)


def unknown_products(site_id: int, product_ids: Sequence[int]) -> list[Problem]:
    """Return a problem where some of the products are not the site's, else none."""
    wanted = set(product_ids)
    known = set(db.session.scalars(select(Product.id).where(Product.site_id == site_id, Product.id.in_(wanted))))
    if wanted <= known:
        return []
    return [Problem("unknown_product", "Some of these products are no longer on this site.", "#/products")]


def product_ids_of(collection: Collection) -> tuple[int, ...]:
    return tuple(entry.product_id for entry in collection.entries)


def move_product(product_ids: Sequence[int], product_id: int, steps: int) -> tuple[int, ...]:
    """Return the order after one product moved `steps` places down (up where negative), to the end at most."""
    rest = [other for other in product_ids if other != product_id]
    if len(rest) == len(product_ids):
        return tuple(product_ids)
    place = max(0, min(len(rest), list(product_ids).index(product_id) + steps))
    return (*rest[:place], product_id, *rest[place:])

"""Use cases of a product's pictures. Pictures do not raise the product's revision: they are changed one by one beside
the form, whose save would otherwise be refused as stale. Call the writing functions within a transaction."""

from __future__ import annotations

import re

from sqlalchemy import inspect, select

from app.domain.catalogue.image_store import FORMS, ImageStore, StoredImage
from app.domain.catalogue.markup import MEDIA_PREFIX, HoldsMarkup
from app.domain.catalogue.models import Product, ProductImage
from app.domain.catalogue.products import product_of
from app.domain.retention.allowance import OVERDUE, most_at_once
from app.domain.retention.purging import Purged
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid
from app.domain.shared.records import existing
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import audit
from app.extensions import db

MOST_IMAGES = 30
LONGEST_ALT = 300
UNUSED_SECONDS = 86_400  # A picture may be kept before the record that names it is saved.


def add(author: Author, product_id: int, stored: StoredImage, alt: str) -> Product:
    """Add a picture to a product as the last one and return the product; one that it has already stays where it is.
    Raises NotFound, Invalid."""
    product = product_of(author.site_id, product_id, to_change=True)
    if any(image.file == stored.file for image in product.images):
        return product
    check_room(len(product.images))
    image = ProductImage(
        site_id=author.site_id,
        file=stored.file,
        alt=checked_alt(alt),
        width=stored.width,
        height=stored.height,
        position=len(product.images),
    )
    product.images.append(image)
    _note(author, product, "product.image.add", f"Added a picture to {product.name}")
    return product


def describe(author: Author, product_id: int, image_id: int, alt: str) -> Product:
    """Change the alternative text of a picture. Raises NotFound, Invalid."""
    product = product_of(author.site_id, product_id, to_change=True)
    image = _image(product, image_id)
    text = checked_alt(alt)
    if image.alt != text:
        image.alt = text
        _note(author, product, "product.image.describe", f"Described a picture of {product.name}")
    return product


def move(author: Author, product_id: int, image_id: int, steps: int) -> Product:
    """Move a picture `steps` places back (forward where negative); the first is the one that lists show.
    Raises NotFound."""
    product = product_of(author.site_id, product_id, to_change=True)
    image = _image(product, image_id)
    rest = [other for other in product.images if other is not image]
    place = max(0, min(len(rest), product.images.index(image) + steps))
    wanted = [*rest[:place], image, *rest[place:]]
    if wanted != product.images:
        _renumber(wanted)
        _note(author, product, "product.image.move", f"Reordered the pictures of {product.name}")
        db.session.refresh(product, ["images"])
    return product


def remove(author: Author, product_id: int, image_id: int) -> Product:
    """Remove a picture from a product; its file is removed later, once nothing names it. Raises NotFound."""
    product = product_of(author.site_id, product_id, to_change=True)
    image = _image(product, image_id)
    for variant in product.variants:
        if variant.picture == image.file:
            variant.picture = None
    product.images.remove(image)
    _renumber(product.images)
    _note(author, product, "product.image.remove", f"Removed a picture from {product.name}")
    return product


def discard_unused(clock: Clock, store: ImageStore, site_id: int, is_confirmed: bool = False) -> Purged:
    """Remove the files of a site that are older than a day and that nothing names, the oldest first, and no more at
    once than is allowed without a person's confirmation."""
    named = set(db.session.scalars(select(ProductImage.file).where(ProductImage.site_id == site_id)))
    named |= _in_texts(site_id)
    oldest_kept = clock.now().timestamp() - UNUSED_SECONDS
    store.clear(site_id, oldest_kept)
    files = store.files(site_id)
    unused = sorted((at, file) for file, at in files if at < oldest_kept and file not in named)
    going = unused if is_confirmed else unused[: most_at_once(len(files))]
    # Judged by the upload, since a file does not say when it became unused. Of many unused at once, as after an older
    # database was restored, a person should know before the last is removed.
    is_overdue = any(at < oldest_kept - OVERDUE.total_seconds() for at, _ in unused[len(going) :])
    removed = sum(store.discard(site_id, file, oldest_kept) for _, file in going)
    return Purged("pictures", len(files), len(unused), removed, is_overdue)


def _in_texts(site_id: int) -> set[str]:
    """Return the files of the pictures that texts show; a smaller form counts as its picture."""
    forms = "|".join(FORMS)
    address = re.compile(rf"{MEDIA_PREFIX}{site_id}/([0-9a-f]+)(?:-(?:{forms}))?(\.webp)", re.ASCII)
    named: set[str] = set()
    for model in HoldsMarkup.__subclasses__():
        table, text = inspect(model).selectable.c, inspect(model).columns[model.markup]
        query = select(text).where(table.site_id == site_id, text.contains(f"{MEDIA_PREFIX}{site_id}/"))
        named.update("".join(parts) for words in db.session.scalars(query) for parts in address.findall(words))
    return named


def _image(product: Product, image_id: int) -> ProductImage:
    named = next((image for image in product.images if image.id == image_id), None)
    return existing(named, "This product has no such picture any more.")


def _renumber(images: list[ProductImage]) -> None:
    for position, image in enumerate(images):
        if image.position != position:
            image.position = position


def check_room(pictures: int) -> None:
    """Check that a product with so many pictures may have another. Raises Invalid."""
    if pictures >= MOST_IMAGES:
        raise Invalid.one("too_many", f"A product has at most {MOST_IMAGES} pictures.", "#/image")


def checked_alt(alt: str) -> str:
    text = one_line(alt)
    if problems := line_problems(text, "The description of the picture", LONGEST_ALT, "#/alt"):
        raise Invalid(problems)
    return text


def _note(author: Author, product: Product, action: str, summary: str) -> None:
    """Date the change, so that cached copies of the product are stale, and log it."""
    product.updated_at = author.now()
    db.session.flush()
    audit.record(author, action, ("product", str(product.id)), summary)

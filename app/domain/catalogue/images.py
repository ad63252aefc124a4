"""Use cases of a product's pictures. Pictures do not raise the product's revision: they are changed one by one beside
the form, whose writer would else find it stale. Call the writing ones within a transaction."""

from __future__ import annotations

import re

from sqlalchemy import select

from app.domain.catalogue.image_store import ImageStore, StoredImage
from app.domain.catalogue.markup import MEDIA_PREFIX
from app.domain.catalogue.models import Collection, Page, Product, ProductImage
from app.domain.catalogue.products import product_of
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import audit
from app.extensions import db

MOST_IMAGES = 30
LONGEST_ALT = 300
UNUSED_SECONDS = 86_400  # A picture may be kept before the record that names it is saved.


def add(clock: Clock, site_id: int, product_id: int, stored: StoredImage, alt: str, actor: str) -> Product:
    """The product with the picture at the end; one that it has already stays where it is.
    Raises NotFound, Invalid."""
    product = product_of(site_id, product_id, to_change=True)
    if any(image.file == stored.file for image in product.images):
        return product
    if len(product.images) >= MOST_IMAGES:
        raise Invalid.one("too_many", f"A product has at most {MOST_IMAGES} pictures.", "#/image")
    image = ProductImage(
        site_id=site_id,
        file=stored.file,
        alt=_checked_alt(alt),
        width=stored.width,
        height=stored.height,
        position=len(product.images),
    )
    product.images.append(image)
    _note(clock, product, actor, "product.image.add", f"Added a picture to {product.name}")
    return product


def describe(clock: Clock, site_id: int, product_id: int, image_id: int, alt: str, actor: str) -> Product:
    """Change what stands in for a picture where it cannot be seen. Raises NotFound, Invalid."""
    product = product_of(site_id, product_id, to_change=True)
    image = _image(product, image_id)
    text = _checked_alt(alt)
    if image.alt != text:
        image.alt = text
        _note(clock, product, actor, "product.image.describe", f"Described a picture of {product.name}")
    return product


def move(clock: Clock, site_id: int, product_id: int, image_id: int, steps: int, actor: str) -> Product:
    """Move a picture `steps` places back (forward where negative); the first is the one that lists show.
    Raises NotFound."""
    product = product_of(site_id, product_id, to_change=True)
    image = _image(product, image_id)
    rest = [other for other in product.images if other is not image]
    place = max(0, min(len(rest), product.images.index(image) + steps))
    wanted = [*rest[:place], image, *rest[place:]]
    if wanted != product.images:
        _renumber(wanted)
        _note(clock, product, actor, "product.image.move", f"Reordered the pictures of {product.name}")
        db.session.refresh(product, ["images"])
    return product


def remove(clock: Clock, site_id: int, product_id: int, image_id: int, actor: str) -> Product:
    """Take a picture from a product; its file goes later, when nothing names it. Raises NotFound."""
    product = product_of(site_id, product_id, to_change=True)
    image = _image(product, image_id)
    product.images.remove(image)
    _renumber(product.images)
    _note(clock, product, actor, "product.image.remove", f"Removed a picture from {product.name}")
    return product


def discard_unused(clock: Clock, store: ImageStore, site_id: int) -> int:
    """Remove the files of a site that are older than a day and that nothing names; how many pictures went."""
    named = _of_products(site_id) | _in_texts(site_id)
    oldest_kept = clock.now().timestamp() - UNUSED_SECONDS
    store.clear(site_id, oldest_kept)
    unused = [file for file, at in store.files(site_id) if at < oldest_kept and file not in named]
    return sum(store.discard(site_id, file, oldest_kept) for file in unused)


def _of_products(site_id: int) -> set[str]:
    return set(db.session.scalars(select(ProductImage.file).where(ProductImage.site_id == site_id)))


def _in_texts(site_id: int) -> set[str]:
    """The pictures that descriptions and pages show, by the names of their large forms."""
    address = re.compile(rf"{MEDIA_PREFIX}{site_id}/([0-9a-f]+)(?:-small)?(\.webp)", re.ASCII)
    named: set[str] = set()
    for model, text in ((Product, Product.description), (Collection, Collection.description), (Page, Page.body)):
        query = select(text).where(model.site_id == site_id, text.contains(f"{MEDIA_PREFIX}{site_id}/"))
        named.update("".join(parts) for words in db.session.scalars(query) for parts in address.findall(words))
    return named


def _image(product: Product, image_id: int) -> ProductImage:
    found = next((image for image in product.images if image.id == image_id), None)
    if found is None:
        raise NotFound("This product has no such picture any more.")
    return found


def _renumber(images: list[ProductImage]) -> None:
    for position, image in enumerate(images):
        if image.position != position:
            image.position = position


def _checked_alt(alt: str) -> str:
    text = one_line(alt)
    if problems := line_problems(text, "The description of the picture", LONGEST_ALT, "#/alt"):
        raise Invalid(problems)
    return text


def _note(clock: Clock, product: Product, actor: str, action: str, summary: str) -> None:
    """Whoever saw the page of the product before sees that it changed."""
    product.updated_at = clock.now()
    db.session.flush()
    audit.record(clock, product.site_id, actor, action, ("product", str(product.id)), summary)

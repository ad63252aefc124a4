"""The pictures of a product: adding, describing, ordering and removing them, uploads that a worker draws anew, and the
removal of files that nothing names.

Pictures do not raise the product's revision: they are changed one by one beside the form, whose save would otherwise be
refused as stale. Call the writing functions within a transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy import inspect, or_, select

from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.markup import MEDIA_PREFIX, HoldsMarkup, NamesPictures
from app.domain.catalogue.models import PictureUpload, Product, ProductImage
from app.domain.catalogue.picture_storage import PicturesUnavailable
from app.domain.catalogue.pictures import FORMS, MOST_IMAGES, StoredImage
from app.domain.catalogue.products import product_of
from app.domain.retention.purging import OVERDUE, Purged, most_at_once
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import activity
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.leases import Claim, perform
from app.domain.work.models import UNFINISHED, WorkKind, WorkRequested, requested_now
from app.domain.work.progress import WorkSummary
from app.events import publish
from app.extensions import db

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
        alt=clean_alt(alt),
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
    image = _image_of(product, image_id)
    text = clean_alt(alt)
    if image.alt != text:
        image.alt = text
        _note(author, product, "product.image.describe", f"Described a picture of {product.name}")
    return product


def move(author: Author, product_id: int, image_id: int, steps: int) -> Product:
    """Move a picture `steps` places back (forward where negative); the first is the one that lists show.
    Raises NotFound."""
    product = product_of(author.site_id, product_id, to_change=True)
    image = _image_of(product, image_id)
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
    image = _image_of(product, image_id)
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
    named |= _files_in_texts(site_id) | _files_in_lists(site_id)
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


def _files_in_texts(site_id: int) -> set[str]:
    """Return the files of the pictures that texts show, or that stand beside them; a smaller form counts as its
    picture."""
    forms = "|".join(FORMS)
    address = re.compile(rf"{MEDIA_PREFIX}{site_id}/([0-9a-f]+)(?:-(?:{forms}))?(\.webp)", re.ASCII)
    named: set[str] = set()
    for model in HoldsMarkup.__subclasses__():
        table, text = inspect(model).selectable.c, inspect(model).columns[model.markup]
        query = select(text).where(table.site_id == site_id, text.contains(f"{MEDIA_PREFIX}{site_id}/"))
        named.update("".join(parts) for words in db.session.scalars(query) for parts in address.findall(words))
        if model.picture_column:
            file = inspect(model).columns[model.picture_column]
            named.update(db.session.scalars(select(file).where(table.site_id == site_id, file.is_not(None))))
    return named


def _files_in_lists(site_id: int) -> set[str]:
    named: set[str] = set()
    for model in NamesPictures.__subclasses__():
        columns = inspect(model).columns
        for files in db.session.scalars(select(columns["files"]).where(columns["site_id"] == site_id)):
            named.update(files)
    return named


def _image_of(product: Product, image_id: int) -> ProductImage:
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


def clean_alt(alt: str) -> str:
    text = one_line(alt)
    if problems := line_problems(text, "The description of the picture", LONGEST_ALT, "#/alt"):
        raise Invalid(problems)
    return text


def _note(author: Author, product: Product, action: str, summary: str) -> None:
    """Date the change, so that cached copies of the product are stale, and log it."""
    product.updated_at = author.now()
    db.session.flush()
    activity.record(author, action, ("product", str(product.id)), summary)


LONGEST_FILE_NAME = 100
log = structlog.get_logger()
UPLOAD_WORK = WorkKind(
    "picture",
    PictureUpload,
    lease=timedelta(seconds=30),
    kept=timedelta(days=1),
    most_attempts=3,
    exhausted="This picture could not be prepared.",
    waits_at_most=timedelta(hours=12),
    overdue="Nobody prepared this picture within twelve hours. Add it again.",
    outages=(PicturesUnavailable,),
)


@dataclass(frozen=True, slots=True)
class UploadSummary(WorkSummary):
    """An upload as the product's page shows it. `name` is that of the file on the uploader's machine."""

    name: str


@contextmanager
def receive_upload(store: ImageStore, site_id: int, data: bytes) -> Iterator[str]:
    """Receive an upload and yield its file name for a request in the block; it is removed where the block raises
    anything, since no upload names it then and nothing else would remove it. Raises Invalid."""
    file = store.receive(site_id, data)
    try:
        yield file
    except BaseException:
        _drop(store, site_id, file)
        raise


def request_upload(author: Author, product_id: int, file: str, name: str, alt: str, machine: str = "") -> None:
    """Have a file that the machine received prepared and added to the product. Call it in a transaction. Raises
    NotFound, Invalid."""
    product = product_of(author.site_id, product_id, to_change=True)
    awaited = sum(upload.is_unfinished for upload in uploads_of(author.clock, author.site_id, product_id))
    check_room(len(product.images) + awaited)
    upload = PictureUpload(
        **requested_now(author),
        product_id=product.id,
        file=file,
        name=one_line(name)[:LONGEST_FILE_NAME],
        alt=clean_alt(alt),
        machine=machine,
    )
    db.session.add(upload)
    db.session.flush()
    publish(WorkRequested(UPLOAD_WORK.name, upload.id, machine))


def uploads_of(clock: Clock, site_id: int, product_id: int) -> list[UploadSummary]:
    """Return the product's uploads that are not its pictures: those on their way and those that failed."""
    shown = or_(PictureUpload.state.in_(UNFINISHED), PictureUpload.error.is_not(None))
    which = PictureUpload.site_id == site_id, PictureUpload.product_id == product_id, shown
    rows = db.session.scalars(select(PictureUpload).where(*which).order_by(PictureUpload.created_at)).all()
    unanswered = leases.unanswered(UPLOAD_WORK, clock, rows)
    return [UploadSummary(**WorkSummary.fields_of(row, row in unanswered), name=row.name) for row in rows]


def dismiss_upload(site_id: int, product_id: int, upload_id: str) -> Product:
    """Delete an upload that has ended and return its product; one that is unfinished stays. Call it in a transaction.
    Raises NotFound."""
    product = product_of(site_id, product_id)
    upload = find_record(PictureUpload, site_id, upload_id, to_change=True)
    if upload is None or upload.product_id != product_id:
        raise NotFound("This upload is gone already.")
    if not upload.is_unfinished:
        db.session.delete(upload)
    return product


def prepare_upload(context: WorkContext, store: ImageStore, upload_id: str) -> bool:
    """Draw the picture anew and add it to its product; return False when the upload cannot be claimed here. Its outcome
    is stored in the row; unexpected errors are raised as well."""
    which = PictureUpload.id == upload_id, UPLOAD_WORK.may_run_on(context.machine)
    claim = context.commit(lambda: leases.claim(UPLOAD_WORK, context.clock, *which))
    return claim is not None and perform(context, claim, lambda: _prepare(context, store, claim))


def _prepare(context: WorkContext, store: ImageStore, claim: Claim[PictureUpload]) -> None:
    """Prepare an uploaded picture. An invalid one ends the work with the reason as its error; a product that was
    deleted meanwhile is no failure either. Raises LeaseLost, NotFound."""
    file, product_id = context.commit(lambda: _source(context.clock, claim))
    data = store.received(claim.site_id, file)
    try:
        stored = store.keep(claim.site_id, data)
        context.commit(lambda: _add_prepared(context.clock, claim, product_id, stored))
    except NotFound:
        log.info("picture_without_product", site=claim.site_id, product=product_id)
    except Invalid as refused:
        reason = refused.problems[0].message
        context.commit(lambda: leases.finish(context.clock, claim, error=reason))
    _drop(store, claim.site_id, file)


def _drop(store: ImageStore, site_id: int, file: str) -> None:
    """Remove a received upload. Where the storage does not answer, it is removed with what is left behind, a day
    later."""
    with suppress(PicturesUnavailable):
        store.drop(site_id, file)


def _source(clock: Clock, claim: Claim[PictureUpload]) -> tuple[str, int]:
    upload = leases.hold(clock, claim)
    return upload.file, upload.product_id


def _add_prepared(clock: Clock, claim: Claim[PictureUpload], product_id: int, stored: StoredImage) -> None:
    """Add a stored picture to its product. Raises LeaseLost, NotFound, Invalid."""
    product_of(claim.site_id, product_id, to_change=True)  # Locked before the upload, as by whoever deletes it.
    upload = leases.hold(clock, claim)
    add(Author(upload.site_id, upload.requested_by, clock), product_id, stored, upload.alt)
    leases.finish(clock, claim)

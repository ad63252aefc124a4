"""Uploaded pictures on their way to a product: an upload is answered at once, and a worker draws the picture anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy import or_, select

from app.domain.catalogue import images
from app.domain.catalogue.image_store import ImageStore, StoredImage
from app.domain.catalogue.models import PictureUpload, Product
from app.domain.catalogue.products import product_of
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.records import find_record
from app.domain.shared.text import one_line
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.kinds import WorkKind, WorkRequested
from app.domain.work.leases import Claim
from app.domain.work.models import requested_now
from app.domain.work.performing import perform
from app.domain.work.progress import WorkSummary
from app.domain.work.states import UNFINISHED
from app.events import publish
from app.extensions import db

LONGEST_NAME = 100
log = structlog.get_logger()
PICTURE = WorkKind(
    "picture",
    PictureUpload,
    lease=timedelta(seconds=30),
    kept=timedelta(days=1),
    most_attempts=3,
    exhausted="This picture could not be prepared.",
    waits_at_most=timedelta(hours=12),
    overdue="Nobody prepared this picture within twelve hours. Add it again.",
)


@dataclass(frozen=True, slots=True)
class UploadSummary(WorkSummary):
    """An upload as the product's page shows it. `name` is that of the file on the uploader's machine."""

    name: str


@contextmanager
def received(store: ImageStore, site_id: int, data: bytes) -> Iterator[str]:
    """Receive an upload and yield its file name for a request in the block; it is removed where the block raises
    anything, since no upload names it then and nothing else would remove it. Raises Invalid."""
    file = store.receive(site_id, data)
    try:
        yield file
    except BaseException:
        store.drop(site_id, file)
        raise


def request(author: Author, product_id: int, file: str, name: str, alt: str) -> None:
    """Have a received file prepared and added to the product. Call it in a transaction. Raises NotFound, Invalid."""
    product = product_of(author.site_id, product_id, to_change=True)
    awaited = sum(upload.is_unfinished for upload in uploads_of(author.clock, author.site_id, product_id))
    images.check_room(len(product.images) + awaited)
    upload = PictureUpload(
        **requested_now(author),
        product_id=product.id,
        file=file,
        name=one_line(name)[:LONGEST_NAME],
        alt=images.checked_alt(alt),
    )
    db.session.add(upload)
    db.session.flush()
    publish(WorkRequested(PICTURE.name, upload.id))


def uploads_of(clock: Clock, site_id: int, product_id: int) -> list[UploadSummary]:
    """Return the product's uploads that are not its pictures: those on their way and those that failed."""
    shown = or_(PictureUpload.state.in_(UNFINISHED), PictureUpload.error.is_not(None))
    which = PictureUpload.site_id == site_id, PictureUpload.product_id == product_id, shown
    rows = db.session.scalars(select(PictureUpload).where(*which).order_by(PictureUpload.created_at)).all()
    unanswered = leases.unanswered(PICTURE, clock, rows)
    return [UploadSummary(**WorkSummary.fields_of(row, row in unanswered), name=row.name) for row in rows]


def dismiss(site_id: int, product_id: int, upload_id: str) -> Product:
    """Delete an upload that has ended and return its product; one that is unfinished stays. Call it in a transaction.
    Raises NotFound."""
    product = product_of(site_id, product_id)
    upload = find_record(PictureUpload, site_id, upload_id, to_change=True)
    if upload is None or upload.product_id != product_id:
        raise NotFound("This upload is gone already.")
    if not upload.is_unfinished:
        db.session.delete(upload)
    return product


def prepare(context: WorkContext, store: ImageStore, upload_id: str) -> bool:
    """Draw the picture anew and add it to its product; return False when the upload cannot be claimed. Its outcome is
    stored in the row; unexpected errors are raised as well."""
    claim = context.commit(lambda: leases.claim(PICTURE, context.clock, PictureUpload.id == upload_id))
    return claim is not None and perform(context, claim, lambda: _prepare(context, store, claim))


def _prepare(context: WorkContext, store: ImageStore, claim: Claim[PictureUpload]) -> None:
    """Prepare an uploaded picture. An invalid one ends the work with the reason as its error; a product that was
    deleted meanwhile is no failure either. Raises LeaseLost, NotFound."""
    file, product_id = context.commit(lambda: _source(context.clock, claim))
    data = store.received(claim.site_id, file)
    try:
        stored = store.keep(claim.site_id, data)
        context.commit(lambda: _add(context.clock, claim, product_id, stored))
    except NotFound:
        log.info("picture_without_product", site=claim.site_id, product=product_id)
    except Invalid as refused:
        reason = refused.problems[0].message
        context.commit(lambda: leases.finish(context.clock, claim, error=reason))
    store.drop(claim.site_id, file)


def _source(clock: Clock, claim: Claim[PictureUpload]) -> tuple[str, int]:
    upload = leases.hold(clock, claim)
    return upload.file, upload.product_id


def _add(clock: Clock, claim: Claim[PictureUpload], product_id: int, stored: StoredImage) -> None:
    """Add a stored picture to its product. Raises LeaseLost, NotFound, Invalid."""
    product_of(claim.site_id, product_id, to_change=True)  # Locked before the upload, as by whoever deletes it.
    upload = leases.hold(clock, claim)
    images.add(Author(upload.site_id, upload.requested_by, clock), product_id, stored, upload.alt)
    leases.finish(clock, claim)

"""F50: many large pictures at once keep nobody waiting. Before, eight of 24 million pixels held every thread, even that
of /healthz, for half a minute."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image
from sqlalchemy import select

from app.domain.catalogue import product_images
from app.domain.catalogue.models import Product, ProductImage
from app.domain.catalogue.product_images import UPLOAD_WORK
from app.domain.work import leases
from app.extensions import db
from tests.faults.browser import form_of_picture, signed_in
from tests.faults.shops import Shop
from tests.faults.web_process import WebProcess, web_process
from tests.injected_faults import injected
from tests.pictures import image_store

pytestmark = pytest.mark.fault("F50")

PICTURES = 8
LONGEST_ANSWER = 3.0  # Seconds.


@pytest.fixture
def web(shop: Shop) -> Iterator[WebProcess]:
    with web_process(shop) as running:
        yield running


def form_with_picture(token: str, number: int) -> tuple[bytes, str]:
    """A form of 24 million pixels, each time others, and the boundary of its parts."""
    picture = io.BytesIO()
    Image.new("L", (6_000, 4_000), 20 * number).save(picture, "PNG", compress_level=1)
    return form_of_picture(token, picture.getvalue())


def test_large_pictures_at_once_keep_nobody_waiting(shop: Shop, web: WebProcess) -> None:
    address = f"http://127.0.0.1:{web.port}"
    admin, token = signed_in(shop, address)
    with shop.opened():
        product_id = db.session.scalars(select(Product.id)).first()

    def upload(form: tuple[bytes, str]) -> int:
        body, boundary = form
        path = f"/admin/catalogue/product/{product_id}/images"
        return admin.send(path, body, f"multipart/form-data; boundary={boundary}")[0]

    forms = [form_with_picture(token, number) for number in range(PICTURES)]
    with ThreadPoolExecutor(PICTURES) as uploading:
        uploads = [uploading.submit(upload, form) for form in forms]
        injected(PICTURES)
        waits = [web.seconds_for("/healthz")]
        while not all(future.done() for future in uploads):
            waits.append(web.seconds_for("/healthz"))
    assert [future.result() for future in uploads] == [202] * PICTURES
    assert max(waits) < LONGEST_ANSWER
    with shop.opened() as context:
        waiting = leases.free_keys(UPLOAD_WORK, context.clock, context.machine)
        assert len(waiting) == PICTURES
        assert product_images.prepare_upload(context, image_store(shop.config.media_dir), waiting[0])
        assert db.session.scalars(select(ProductImage.width)).all() == [1_600]

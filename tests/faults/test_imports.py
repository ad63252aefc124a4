"""F48: the process that imports a bundle, or takes in a picture, is killed, and somebody does it again."""

from __future__ import annotations

import io
import signal
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import select

from app.domain.bundles import runs
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.models import BundleRun
from app.domain.bundles.parts import OF_AN_ADMIN
from app.domain.catalogue import product_images
from app.domain.catalogue.models import PictureUpload, Product, ProductImage
from app.domain.catalogue.product_images import UPLOAD_WORK
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Domain, Site
from app.domain.taxonomy.taxonomies import active_id
from app.domain.work import leases
from app.extensions import db
from app.transaction import transaction
from tests.domain.bundles.conftest import TAXONOMY, product, write_bundle
from tests.factories import make_user
from tests.faults.shops import SITE, Shop, check
from tests.pictures import image_store

pytestmark = pytest.mark.fault("F48")
KILLED = -signal.SIGKILL
MOST_STATEMENTS = 400
STEP = 7  # Kills before each seventh statement, beginning elsewhere in each run of the bundle.
HOST = "imported.test"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    tents = [product(f"T-{number}", taxonomy={"levelId": "tents", "attributes": {"sleeps": 2}}) for number in range(6)]
    site = {"name": "Imported", "domains": [{"host": HOST, "primary": True}]}
    folder = tmp_path / "bundle"
    return write_bundle(folder, site=site, taxonomy=TAXONOMY, products=tents, pages=[{"seoName": "a", "title": "A"}])


def imported(shop: Shop) -> dict[str, Any]:
    """What the bundle made of its site; each product's revision says how often it was written."""
    with shop.opened():
        site_id = db.session.scalars(select(Domain.site_id).where(Domain.host == HOST)).one()
        columns = select(Product.sku, Product.revision, Product.taxonomy_level_id, Product.completeness_score)
        products = db.session.execute(columns.where(Product.site_id == site_id).order_by(Product.sku)).all()
        done = AuditEntry.site_id == site_id, AuditEntry.action == "bundle.import"
        return {
            "active": active_id(site_id),
            "products": [tuple(row) for row in products],
            "imports that ended": len(db.session.scalars(select(AuditEntry.id).where(*done)).all()),
        }


def test_an_import_that_is_killed_is_made_whole_by_doing_it_again(shop: Shop, bundle: Path) -> None:
    kills = 0
    for number in range(1, MOST_STATEMENTS, STEP):
        status = shop.do("take_bundle", str(bundle), HOST, f"statement:{number}").finish()
        if status == 0:
            break
        assert status == KILLED
        kills += 1
    assert kills > 3
    wanted = [(f"T-{number}", 1, "tents", 100) for number in range(6)]
    assert imported(shop) == {"active": "shop", "products": wanted, "imports that ended": 1}
    check(shop)


def requested(shop: Shop, folder: Path) -> str:
    """An import that an admin previewed and confirmed."""
    file = BundleFolder(shop.config.bundle_folder)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for each in folder.iterdir():
            archive.write(each, each.name)
    packed.seek(0)
    with shop.opened() as context, transaction():
        user_id = make_user(db.session.get_one(Site, SITE), Role.ADMIN).id
        author = Author(SITE, "Mia", context.clock)
        run_id = runs.request_import(author, user_id, "shop.zip", file.receive(packed), OF_AN_ADMIN).id
    assert shop.do("run_bundle", run_id, "none").finish() == 0
    with shop.opened() as context, transaction():
        return runs.confirm_run(Author(SITE, "Mia", context.clock), user_id, run_id, removes=False).id


def free_again(shop: Shop, run_id: str) -> None:
    """The scheduler saw that the worker died; and that it dies so often is the test's doing."""
    with shop.opened() as context, transaction():
        run = db.session.get_one(BundleRun, run_id)
        run.attempts = 0
        if run.lease_until is not None:
            run.lease_until = context.clock.now()


def test_an_import_of_the_admin_is_taken_up_by_the_next_worker(shop: Shop, tmp_path: Path) -> None:
    tents = [product(f"T-{number}") for number in range(6)]
    pages = [{"seoName": "a", "title": "A"}]
    run_id = requested(shop, write_bundle(tmp_path / "sent", products=tents, pages=pages))
    kills = 0
    for number in range(1, MOST_STATEMENTS, STEP):
        status = shop.do("run_bundle", run_id, f"statement:{number}").finish()
        if status == 0:
            break
        assert status == KILLED
        kills += 1
        free_again(shop, run_id)
    assert kills > 3
    with shop.opened():
        run = db.session.get_one(BundleRun, run_id)
        assert (run.state, run.error, run.file) == ("done", None, None)
        revisions = select(Product.revision).where(Product.site_id == SITE, Product.sku.startswith("T-"))
        assert db.session.scalars(revisions).all() == [1] * 6
    assert list(shop.config.bundle_folder.iterdir()) == []
    check(shop)


@pytest.mark.parametrize("point", ["commit", "committed"])
def test_around_its_first_commit_an_import_leaves_a_whole_part_or_none(shop: Shop, bundle: Path, point: str) -> None:
    assert shop.do("take_bundle", str(bundle), HOST, point).finish() == KILLED
    with shop.opened():
        made = db.session.scalars(select(Domain).where(Domain.host == HOST)).all()
        assert len(made) == (point == "committed")
    assert shop.do("take_bundle", str(bundle), HOST, "none").finish() == 0
    assert [sku for sku, *_ in imported(shop)["products"]] == [f"T-{number}" for number in range(6)]


def test_a_picture_whose_receiver_is_killed_is_there_once_it_was_sent_again(shop: Shop, tmp_path: Path) -> None:
    with shop.opened():
        product_id = db.session.scalars(select(Product.id)).first()
    picture = io.BytesIO()
    Image.new("L", (300, 200), 90).save(picture, "PNG")
    file = tmp_path / "picture.png"
    file.write_bytes(picture.getvalue())
    points = [*(f"statement:{number}" for number in range(1, MOST_STATEMENTS)), "none"]
    for point in points:
        status = shop.do("receive_picture", str(product_id), str(file), point).finish()
        if status == 0:
            break
        with shop.opened():
            assert status == KILLED and db.session.scalars(select(PictureUpload)).all() == []
    with shop.opened() as context:
        [upload_id] = leases.free_keys(UPLOAD_WORK, context.clock)
        assert product_images.prepare_upload(context, image_store(shop.config.media_dir), upload_id)
        assert db.session.scalars(select(ProductImage.width)).all() == [300]

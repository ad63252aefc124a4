"""The export of a site as a bundle that, imported into an empty site, gives the same shop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import func, select

from app.domain.bundles.archive import MEDIA
from app.domain.bundles.content_files import COLLECTIONS, PAGES, content_rows
from app.domain.bundles.exporting import structure, till, words
from app.domain.bundles.exporting.products import picture_files, product_rows
from app.domain.bundles.exporting.target import Target, open_target, write_document, write_rows
from app.domain.bundles.parts import EVERYTHING, Part, is_chosen, part_of_setting
from app.domain.bundles.task import Watch, unwatched
from app.domain.catalogue.models import Product, ProductImage
from app.domain.catalogue.pictures import ImageStore
from app.domain.shared.problems import NotFound
from app.domain.sites.models import RoleGrant, Site, User
from app.domain.sites.settings import SETTINGS, settings_of
from app.extensions import db

T = TypeVar("T")
BETWEEN_STEPS = 500  # Records.
NOT_A_SETTING = "taxonomy-active-id"  # Stands in taxonomy.json.


def export_bundle(
    path: Path,
    site: Site,
    images: ImageStore,
    parts: frozenset[Part] = EVERYTHING,
    watch: Watch = unwatched,
) -> dict[str, int]:
    """Export a site into a new folder or .zip at `path`, and return the number of records of each kind. `watch` ends
    the work by raising. Raises Conflict when something is there already."""
    site_id = site.id
    counts: dict[str, int] = {}
    with open_target(path) as target:
        watch("Settings, search and categories", 0, None)
        for name, make in DOCUMENTS.items():
            if is_chosen(name, parts):
                counts |= _write_document(target, name, make(site_id, parts))
        if Part.CATALOGUE in parts:
            counts |= _write_catalogue(target, images, site_id, watch)
        if Part.PAGES in parts:
            counts["pages"] = write_rows(target, "pages.jsonl", content_rows(PAGES, site_id))
    return counts


def _write_document(target: Target, name: str, document: Any) -> dict[str, int]:
    write_document(target, name, document)
    if name == "pos.json":
        return {kind: len(document[kind]) for kind in document}
    return {COUNTED[name]: len(document)} if name in COUNTED else {}


def _write_catalogue(target: Target, images: ImageStore, site_id: int, watch: Watch) -> dict[str, int]:
    total = db.session.scalar(select(func.count()).where(Product.site_id == site_id)) or 0
    rows = _watched(product_rows(site_id), lambda done: watch("Products", done, total))
    return {
        "products": write_rows(target, "products.jsonl", rows),
        "collections": write_rows(target, "collections.jsonl", content_rows(COLLECTIONS, site_id)),
        "pictures": _write_pictures(target, images, site_id, watch),
    }


def _watched(rows: Iterable[T], note: Callable[[int], None]) -> Iterator[T]:
    for done, row in enumerate(rows):
        if done % BETWEEN_STEPS == 0:
            note(done)
        yield row


def _site(site_id: int, parts: frozenset[Part]) -> dict[str, Any]:
    stored = settings_of(site_id)
    settings = {
        key: stored[key]
        for key, setting in SETTINGS.items()
        if stored[key] != setting.default and key != NOT_A_SETTING and part_of_setting(key) in parts
    }
    own = _own(db.session.get_one(Site, site_id)) if Part.SITE in parts else {}
    return own | ({"settings": settings} if parts & {Part.SETTINGS, Part.TILL} else {})


def _own(site: Site) -> dict[str, Any]:
    return {
        "name": site.name,
        "domains": [{"host": domain.host, "primary": domain.primary} for domain in site.domains],
        "currency": site.currency,
        "timeZone": site.time_zone,
        "staging": site.staging,
        "capabilities": site.capabilities,
    }


def _users(site_id: int) -> list[dict[str, Any]]:
    """Return the users of a site with their roles, without passwords."""
    query = (
        select(User.email, User.display_name, RoleGrant.role)
        .join(RoleGrant, RoleGrant.user_id == User.id)
        .where(RoleGrant.site_id == site_id)
        .order_by(User.email, RoleGrant.role)
    )
    users: dict[str, dict[str, Any]] = {}
    for email, display_name, role in db.session.execute(query):
        users.setdefault(email, {"email": email, "displayName": display_name, "roles": []})["roles"].append(role)
    return list(users.values())


def _write_pictures(target: Target, images: ImageStore, site_id: int, watch: Watch) -> int:
    """Write the files of the products' pictures, and return their number. A picture whose file is gone is left out; its
    product keeps the rest."""
    written = 0
    total = db.session.scalar(select(func.count(ProductImage.file.distinct())).where(ProductImage.site_id == site_id))
    for file in _watched(picture_files(site_id), lambda done: watch("Pictures", done, total)):
        try:
            data = images.read(site_id, file)
        except NotFound:
            continue
        with target.open(f"{MEDIA}{file}") as out:
            out.write(data)
        written += 1
    return written


DOCUMENTS: Mapping[str, Callable[[int, frozenset[Part]], Any]] = {
    "site.json": _site,
    "users.json": lambda site_id, _: _users(site_id),
    "taxonomy.json": lambda site_id, _: structure.taxonomies(site_id),
    "merchandising.json": lambda site_id, _: structure.trees(site_id),
    "synonyms.json": lambda site_id, _: words.synonyms(site_id),
    "rules.json": lambda site_id, _: words.rules(site_id),
    "goldens.json": lambda site_id, _: words.goldens(site_id),
    "pos.json": lambda site_id, _: till.pos(site_id),
}
COUNTED = {
    "users.json": "users",
    "synonyms.json": "synonyms",
    "rules.json": "rules",
    "goldens.json": "golden searches",
}

"""Writes a site as a bundle that, taken into an empty site, gives the same shop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select

from app.domain.bundles.archive import MEDIA
from app.domain.bundles.content_files import COLLECTIONS, PAGES, content_rows
from app.domain.bundles.exporting import structure, till, words
from app.domain.bundles.exporting.products import product_rows
from app.domain.bundles.exporting.target import Target, open_target, write_document, write_rows
from app.domain.catalogue.image_store import ImageStore
from app.domain.shared.problems import NotFound
from app.domain.sites.models import RoleGrant, Site, User
from app.domain.sites.settings import SETTINGS, settings_of
from app.extensions import db

NOT_A_SETTING = "taxonomy-active-id"  # Stands in taxonomy.json.


def export_bundle(path: Path, site: Site, images: ImageStore) -> dict[str, int]:
    """How many records of each kind went into the new folder or .zip at `path`. Raises Conflict when something is
    there already."""
    site_id = site.id
    pictures: set[str] = set()
    with open_target(path) as target:
        write_document(target, "site.json", _site(site))
        users = _users(site_id)
        write_document(target, "users.json", users)
        write_document(target, "taxonomy.json", structure.taxonomies(site_id))
        write_document(target, "merchandising.json", structure.trees(site_id))
        synonyms, rules, goldens = words.synonyms(site_id), words.rules(site_id), words.goldens(site_id)
        write_document(target, "synonyms.json", synonyms)
        write_document(target, "rules.json", rules)
        write_document(target, "goldens.json", goldens)
        till_of_site = till.pos(site_id)
        write_document(target, "pos.json", till_of_site)
        counts = {
            "users": len(users),
            "synonyms": len(synonyms),
            "rules": len(rules),
            "golden searches": len(goldens),
            "locations": len(till_of_site["locations"]),
            "agents": len(till_of_site["agents"]),
            "products": write_rows(target, "products.jsonl", product_rows(site_id, pictures)),
            "collections": write_rows(target, "collections.jsonl", content_rows(COLLECTIONS, site_id)),
            "pages": write_rows(target, "pages.jsonl", content_rows(PAGES, site_id)),
            "pictures": _write_pictures(target, images, site_id, pictures),
        }
    return counts


def _site(site: Site) -> dict[str, Any]:
    settings = settings_of(site.id)
    return {
        "name": site.name,
        "domains": [{"host": domain.host, "primary": domain.primary} for domain in site.domains],
        "currency": site.currency,
        "timeZone": site.time_zone,
        "staging": site.staging,
        "capabilities": site.capabilities,
        "settings": {
            key: settings[key]
            for key, setting in SETTINGS.items()
            if settings[key] != setting.default and key != NOT_A_SETTING
        },
    }


def _users(site_id: int) -> list[dict[str, Any]]:
    """Passwords stay behind."""
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


def _write_pictures(target: Target, images: ImageStore, site_id: int, files: set[str]) -> int:
    """A picture whose file is gone is left out; its product keeps the rest."""
    written = 0
    for file in sorted(files):
        try:
            data = images.read(site_id, file)
        except NotFound:
            continue
        with target.open(f"{MEDIA}{file}") as out:
            out.write(data)
        written += 1
    return written

"""Create the demo shop: import its bundle and write its history."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import select

from app.demo.history import write_history
from app.demo.takings import write_takings
from app.domain.bundles.import_task import Transaction
from app.domain.bundles.importer import IMPORTED, import_bundle
from app.domain.bundles.report import BundleReport
from app.domain.catalogue.image_store import ImageStore
from app.domain.orders.models import OPEN, Order
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Forbidden
from app.domain.sites import activity, sites
from app.domain.sites.models import RoleGrant, User
from app.extensions import db

BUNDLE = Path(__file__).parent / "bundle"
HOST = "localhost"
NAME = "Demo shop"  # As in the bundle's site.json.


def create_demo(
    clock: Clock, images: ImageStore, transaction: Transaction, actor: str, password_memory_kib: int, production: bool
) -> BundleReport | None:
    """Make the demo shop, or complete it where that was interrupted, and return the report of the import; None when a
    shop stands at the host, whose owner may have changed it since. Raises Forbidden in production: the passwords of the
    demo shop are published."""
    if production:
        raise Forbidden("The demo shop has passwords that everybody knows; it is not made in production.")
    site = sites.site_by_host(HOST)
    if site is not None and (site.name != NAME or _is_complete(site.id)):
        return None
    report = import_bundle(BUNDLE, HOST, clock, images, transaction, actor, password_memory_kib)
    with transaction():
        site = sites.site_at(HOST)
        if not _has_orders(site.id):
            write_history(clock, site)
            write_takings(clock, site, password_memory_kib, actor)
    return report


def _is_complete(site_id: int) -> bool:
    """Whether the demo shop was imported with its history. A process that dies between the two leaves a shop without
    orders whose last action is the import."""
    last = activity.last_action(site_id)
    return activity.has_entry(site_id, IMPORTED) and (last != IMPORTED or _has_orders(site_id))


def _has_orders(site_id: int) -> bool:
    placed = select(Order.id).where(Order.site_id == site_id, Order.status != OPEN).limit(1)
    return db.session.scalar(placed) is not None


def has_demo_users() -> bool:
    """Whether the shop at the host is the demo shop and everybody in its bundle can sign in there."""
    site = sites.site_by_host(HOST)
    if site is None or site.name != NAME:
        return False
    emails = {user["email"] for user in json.loads((BUNDLE / "users.json").read_text())}
    here = select(RoleGrant.user_id).where(RoleGrant.site_id == site.id)
    users = select(User.email).where(User.email.in_(emails), User.id.in_(here), User.enabled)
    return set(db.session.scalars(users)) == emails

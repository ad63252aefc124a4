"""A shop that sells a kettle, of which three are left, a mug that nobody counts, and a tent in two sizes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.domain.catalogue.models import Product, Variant
from app.domain.orders import basket_contents
from app.domain.orders.basket import Basket, Contact
from app.domain.orders.basket_contents import BasketChange
from app.domain.orders.checkout import Placed, place
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.till import Till
from tests.factories import make_product, make_site, make_user
from tests.fakes.clock import StoppedClock

MIA = Contact("Mia Moss", "mia@home.test")
FORM = "the secret of a form that only Mia was shown"


@dataclass
class Shopper:
    """Fills one basket and orders it."""

    clock: StoppedClock
    site_id: int
    token: str | None = None

    def add(self, sku: str, quantity: int = 1) -> BasketChange:
        with transaction():
            filled = basket_contents.add(self.clock, self.site_id, self.token, sku, quantity)
        self.token = filled.token
        return filled

    def change(self, line_id: int, quantity: int) -> BasketChange:
        with transaction():
            return basket_contents.change(self.clock, self.site_id, self.token, line_id, quantity)

    @property
    def basket(self) -> Basket:
        return basket_contents.basket_of(self.site_id, self.token)

    def order(self, contact: Contact = MIA, seen: str | None = None, address: str = "", form: str = FORM) -> Placed:
        shown = self.basket.seen if seen is None else seen
        with transaction():
            return place(self.clock, self.site_id, self.token or "", contact, shown, address, form)


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        site = make_site()
        make_product(site, "KETTLE", name="Kettle", price=2_000, stock=3)
        make_product(site, "MUG", name="Mug", price=500, stock=None)
        tent = make_product(site, "TENT", name="Tent", price=9_000, stock=0)
        tent.variants = [
            Variant(site_id=site.id, position=0, sku="TENT-S", stock=2, options={"Size": "S"}),
            Variant(site_id=site.id, position=1, sku="TENT-L", stock=1, price=11_000, options={"Size": "L"}),
        ]
        return site.id


@pytest.fixture
def mia(clock: StoppedClock, site_id: int) -> Shopper:
    return Shopper(clock, site_id)


@pytest.fixture
def ben(clock: StoppedClock, site_id: int) -> Shopper:
    return Shopper(clock, site_id)


def product(sku: str) -> Product:
    """As it is stored now."""
    db.session.rollback()
    return db.session.query(Product).filter_by(sku=sku).one()


def stock(sku: str) -> int | None:
    db.session.rollback()
    found = db.session.query(Variant).filter_by(sku=sku).one_or_none() or product(sku)
    return found.stock


def change_product(sku: str, **changes: object) -> None:
    with transaction():
        found = db.session.query(Product).filter_by(sku=sku).one()
        for name, value in changes.items():
            setattr(found, name, value)


@pytest.fixture
def till(clock: StoppedClock, site_id: int) -> Till:
    with transaction():
        user = make_user(db.session.get_one(Site, site_id), Role.POS_AGENT, name="Tilly Till")
        return Till(Author(site_id, "Tilly Till", clock), user.id)

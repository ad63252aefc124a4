"""A shop where Sam bought something, and what its database says of people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import select

from app.adapters.erasure_file import ErasureFile
from app.adapters.mail import FolderMailer
from app.adapters.simulator.models import SimulatorIntent
from app.domain.bundles.archive import BundleFolder
from app.domain.personal_data.erasure import Erasure, OutsideStores, erase
from app.domain.personal_data.people import Person, find_person
from app.domain.pos.models import PosAgent, PosRefund, PosTransaction, PosTransactionEvent
from app.domain.shared.author import Author
from app.domain.sites import activity
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, User
from app.extensions import Base, db
from app.transaction import transaction
from tests.factories import WHEN, make_agent, make_location, make_order, make_site, make_transaction, make_user
from tests.fakes.clock import StoppedClock

SAM = "sam@home.test"


class Shop:
    """A shop where Sam bought something, and Nia Nettle works."""

    def __init__(self, clock: StoppedClock, folder: Path) -> None:
        self.clock = clock
        self.mails = folder / "mail"
        self.mailer = FolderMailer(self.mails)
        self.bundles = BundleFolder(folder / "bundles")
        self.stores = OutsideStores(b"k" * 32, ErasureFile(folder / "erasures.list"), self.mailer, self.bundles)
        with transaction():
            site = make_site()
            self.site_id = site.id
            self.nia = make_user(site, Role.ADMIN, Role.POS_AGENT, email="nia@shop.test", name="Nia Nettle").id
            self.agent = make_agent(site, db.session.get_one(User, self.nia), make_location(site)).id
        self.author = Author(self.site_id, "Mia Moss", clock)

    def site(self) -> Site:
        return db.session.get_one(Site, self.site_id)

    def order(self, **more: object) -> str:
        with transaction():
            return make_order(self.site(), **({"status": "COLLECTED", "contact_email": "Sam@Home.test"} | more)).id

    def payment(self, status: str = "SUCCEEDED", **more: object) -> str:
        with transaction():
            agent = db.session.get_one(PosAgent, self.agent)
            return make_transaction(agent, agent.locations[0], status, **more).id

    def find(self, words: str = SAM) -> Person:
        db.session.rollback()
        return find_person(self.clock, self.site_id, words)

    def erase(self, words: str = SAM) -> Erasure:
        person = self.find(words)
        return erase(transaction, self.author, person, self.stores)


def everything() -> Iterator[str]:
    """Every text of the whole database."""
    db.session.rollback()
    for table in Base.metadata.tables.values():
        for row in db.session.execute(select(table)):
            yield json.dumps(list(row), ensure_ascii=False, default=str)


def named(*words: str) -> list[str]:
    return [text for text in everything() for word in words if word.casefold() in text.casefold()]


def bought(shop: Shop) -> tuple[str, str]:
    """An order of Sam's with a payment, a refund with a reason, and what the activity log says of them."""
    order = shop.order(contact_phone="0123 456 789", note="Ring twice, Sam", token_hash="a" * 64)
    payment = shop.payment(
        type="ORDER_PAYMENT", order_id=order, description="For Sam Sedge", client_metadata={"customer": "Sam Sedge"}
    )
    with transaction():
        refund = {"reason": "Sam’s mug broke", "requested_by": "Nia Nettle", "status": "SUCCEEDED", "amount": 100}
        times = {"created_at": WHEN, "updated_at": WHEN}
        db.session.add(PosRefund(id="refund-1", site_id=shop.site_id, transaction_id=payment, **refund, **times))
        about = {"site_id": shop.site_id, "transaction_id": payment, "at": WHEN, "actor": "Nia Nettle"}
        detail = "£1.00: Sam’s mug broke"
        db.session.add(PosTransactionEvent(**about, action="refund requested", status="SUCCEEDED", detail=detail))
        nia = Author(shop.site_id, "Nia Nettle", shop.clock)
        activity.record(nia, "pos.refund", ("pos_transaction", payment), "Refunded £1.00: Sam’s mug broke")
        intent = {"id": "pi_sam", "account_id": "", "amount": 1_250, "currency": "gbp", "status": "succeeded"}
        db.session.get_one(PosTransaction, payment).processor_intent_id = "pi_sam"
        sent = {"description": "For Sam Sedge", "labels": {"customer": "Sam Sedge"}}
        db.session.add(SimulatorIntent(**intent, **sent, created_at=WHEN))
        activity.record(nia, "x.mail", ("x", "1"), "Wrote to sam@home.test", after={"to": ["SAM@home.test"]})
    return order, payment

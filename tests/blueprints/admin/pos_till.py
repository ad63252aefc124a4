"""A till for tests of the admin's pages: an agent at a market stall, and payments as they like them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import Flask

from app.domain.pos.models import PosAgent, PosLocation, PosSession, PosTransaction
from app.domain.sites.models import Site, User
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_transaction


@dataclass
class AtTill:
    app: Flask
    site_id: int
    agent_id: int
    location_id: int
    now: datetime

    def payment(self, status: str = "SUCCEEDED", **more: object) -> str:
        """Return the id of a payment that was begun, and perhaps taken, now."""
        with self.app.app_context(), transaction():
            agent, location = (
                db.session.get_one(PosAgent, more.pop("agent_id", self.agent_id)),
                db.session.get_one(PosLocation, self.location_id),
            )
            at = more.get("created_at", self.now)
            return make_transaction(agent, location, status, **({"created_at": at, "captured_at": at} | more)).id

    def cash(self, status: str = "SUCCEEDED", **more: object) -> str:
        """Return the id of a payment in cash of 12.52, rounded to 12.50, for which 20.00 was handed over."""
        cash = {"tender_type": "CASH", "processor": "", "processor_intent_id": None, "amount_in_pence": 1_252}
        return self.payment(status, **(cash | {"change_in_pence": 750, "rounding_in_pence": -2} | more))

    def session(self, **more: object) -> None:
        fields = {"started_at": self.now, "last_seen_at": self.now, "currency": "gbp", "device_name": "Pixel 9"} | more
        with self.app.app_context(), transaction():
            number = db.session.query(PosSession).count()
            agent = {"agent_id": self.agent_id, "location_id": self.location_id, "site_id": self.site_id}
            fields = {"expires_at": self.now.replace(year=2099)} | agent | fields
            db.session.add(PosSession(id=f"session-{number}", **fields))

    def read(self, payment_id: str) -> PosTransaction:
        with self.app.app_context():
            return db.session.get_one(PosTransaction, payment_id)


def at_till(app: Flask, site_id: int, now: datetime, name: str = "Tilly Till") -> AtTill:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        user = db.session.query(User).filter_by(email="pos_agent@shop.test").one()
        location = make_location(site, "tml_stall")
        agent = make_agent(site, user, location, display_name=name)
        change_settings(site_id, {"posEnabled": True})
        return AtTill(app, site_id, agent.id, location.id, now)

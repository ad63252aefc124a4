"""A shop with a till, whose payments the processor in memory knows."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from app.domain.pos import webhooks
from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.pos.processor import AccountRef, IntentRequest
from app.domain.pos.reconciliation import checks
from app.domain.pos.webhooks import EventOutcome
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_site, make_transaction, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import FakeProcessor


@dataclass
class ShopWithTill:
    author: Author
    agent_id: int
    location_id: int
    clock: StoppedClock
    processor: FakeProcessor
    context: WorkContext

    ref = AccountRef()

    @property
    def site_id(self) -> int:
        return self.author.site_id

    def payment(self, status: str = "PENDING", account: str = "", attached: bool = True, **more: object) -> str:
        """A payment of 12.50, or of `amount_in_pence`, with its intent at the processor; not `attached`: the answer to
        its creation was lost."""
        transaction_id = str(uuid.uuid4())
        amount = int(str(more.get("amount_in_pence", 1_250)))
        request = IntentRequest(amount, "gbp", metadata={"transactionId": transaction_id, "siteId": str(self.site_id)})
        made = self.processor.create_intent(AccountRef(account), request, f"pos-create-{transaction_id}")
        self.record(status, transaction_id, made.id if attached else None, account, **more)
        return transaction_id

    def record(
        self, status: str, transaction_id: str, intent_id: str | None = None, account: str = "", **more: object
    ) -> str:
        """The shop's row alone."""
        fields = {"created_at": self.clock.now(), "next_check_at": self.clock.now()} | more
        with transaction():
            agent, location = db.session.get(PosAgent, self.agent_id), db.session.get(PosLocation, self.location_id)
            make_transaction(
                agent,
                location,
                status,
                id=transaction_id,
                processor_intent_id=intent_id,
                processor_account_id=account,
                **fields,
            )
        return transaction_id

    def intent_of(self, transaction_id: str) -> str:
        """The id that the processor gave it."""
        return next(
            intent.id
            for account in self.processor.accounts
            for intent in self.processor.intents(account)
            if intent.metadata.get("transactionId") == transaction_id
        )

    def tap(self, transaction_id: str, card: str = "4242", account: str = "") -> None:
        self.processor.tap(self.intent_of(transaction_id), card, account)

    def event(self, kind: str, transaction_id: str, **more: object) -> EventOutcome:
        raw, headers = self.processor.event(kind, self.intent_of(transaction_id), **more)
        return self.receive(raw, headers)

    def receive(self, raw: bytes, headers: dict[str, str]) -> EventOutcome:
        return webhooks.receive(self.context, self.processor, raw, headers)

    def check(self) -> None:
        """What the scheduler does each minute."""
        db.session.rollback()
        with transaction():
            checks.request(self.author)
        checks.check(self.context, self.processor, self.site_id)


def shop_with_till(
    clock: StoppedClock, processor: FakeProcessor, context: WorkContext, host: str = "localhost"
) -> ShopWithTill:
    with transaction():
        site = make_site(host)
        location = make_location(site)
        agent = make_agent(site, make_user(site, Role.POS_AGENT), location, can_refund=True)
        author = Author(site.id, "Tilly Till", clock)
        return ShopWithTill(author, agent.id, location.id, clock, processor, context)


def stored(transaction_id: str) -> PosTransaction:
    db.session.rollback()
    found = db.session.get(PosTransaction, transaction_id)
    assert found is not None
    return found

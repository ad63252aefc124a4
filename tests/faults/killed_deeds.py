"""Deeds whose process is killed at a point of their transaction (killed_in_database.py)."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from app.domain.bundles.importer import import_bundle
from app.domain.catalogue import product_images
from app.domain.orders import basket_contents
from app.domain.orders.basket import Contact
from app.domain.orders.checkout import place
from app.domain.orders.lifecycle import submit
from app.domain.pos import movements, sessions
from app.domain.pos.models import PosAgent, PosSession
from app.domain.pos.movements import MovementRequest, MovementType
from app.domain.pos.payments import cash, creation
from app.domain.pos.payments.cash import CashRequest
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.creation import PaymentRequest
from app.domain.pos.refunds import RefundRequest, request_refund
from app.domain.shared.author import Author
from app.domain.shared.records import existing, find_record
from app.domain.taxonomy import lifecycle, saves
from app.domain.taxonomy.tasks import runner
from app.domain.taxonomy.taxonomies import taxonomy_of
from app.extensions import db
from app.jobs import catalogue, events, pos, relevance, search_statistics, seo
from app.operations.work_context import work_context
from app.ports import clock, images, payment_processor
from app.transaction import transaction
from tests.faults.acting import say, site_id
from tests.faults.killed_in_database import kill_at


def activate(point: str) -> None:
    """Switches to the taxonomy `garden`."""
    db.session.rollback()
    kill_at(point)
    with transaction():
        lifecycle.activate_taxonomy(Author(1, "tests", clock()), "garden", "Garden")
    say("activated")


def save_structure(point: str) -> None:
    """Saves the active taxonomy `camping` with another level, and is killed at a point."""
    taxonomy = taxonomy_of(1, "camping")
    revision, levels = taxonomy.revision, [*taxonomy.root_levels, {"name": "Added"}]
    prepared = saves.prepare(1, "camping", revision, "Camping", "", levels)
    kill_at(point)
    with transaction():
        saves.store(Author(1, "tests", clock()), prepared)
    say("saved")


def deliver(point: str) -> None:
    """Follows up what waits, and is killed at a point."""
    kill_at(point)
    events.deliver()
    say("delivered")


def work_off_tasks(point: str, batch: str) -> None:
    """Does the site's tasks, so many products at a time, and is killed at a point."""
    kill_at(point)
    runner.work_off(work_context(), 1, batch=int(batch))
    say("worked")


def order(token: str, point: str) -> None:
    """A shopper orders their basket, and the process is killed at a point."""
    seen = basket_contents.basket_of(1, token).seen
    db.session.rollback()
    kill_at(point)
    with transaction():
        placed = place(clock(), 1, token, Contact("Mia Moss", "mia@home.test"), seen, form="of this form alone " * 3)
        number = placed.order.number
    say("ordered", number, "now" if placed.is_new else "before")


def submit_basket(basket_id: str, point: str) -> None:
    """A till submits a paid basket, and the process is killed at a point."""
    kill_at(point)
    with transaction():
        number = submit(Author(1, "Tilly Till", clock()), basket_id).number
    say("submitted", number)


def deliver_events(point: str) -> None:
    """Follows up stored events, and is killed at a point."""
    kill_at(point)
    events.deliver()
    say("delivered")


def drain(point: str) -> None:
    """Counts the searches that wait, and is killed at a point."""
    kill_at(point)
    search_statistics.drain()
    say("drained")


def replay(replay_id: str, point: str) -> None:
    """Replays searches on a change, and is killed at a point."""
    kill_at(point)
    say(relevance.replay(replay_id))


def build_sitemap(build_id: str, point: str) -> None:
    """Writes a sitemap, and is killed at a point."""
    kill_at(point)
    say(seo.build_sitemap(build_id))


def take_bundle(path: str, host: str, point: str) -> None:
    """Imports a bundle, and is killed at a point."""
    kill_at(point)
    import_bundle(Path(path), host, clock(), images(), transaction, "tests", 8)
    say("imported")


def run_bundle(run_id: str, point: str) -> None:
    """Does an import that the admin requested, as its worker, and is killed at a point."""
    kill_at(point)
    say(catalogue.run_bundle(run_id))


def receive_picture(product_id: str, file: str, point: str) -> None:
    """Takes in a picture of a product, and is killed at a point."""
    author, store = Author(site_id(), "tests", clock()), images()
    db.session.rollback()
    kill_at(point)
    with product_images.receive_upload(store, author.site_id, Path(file).read_bytes()) as received, transaction():
        product_images.request_upload(author, int(product_id), received, "picture.png", "")
    say("received")


def pay(key: str, point: str) -> None:
    """An agent begins a payment, and the process is killed at a point."""
    agent = db.session.scalars(select(PosAgent)).one()
    author = Author(agent.site_id, "tests", clock())
    cashier = Cashier(author, agent.user_id, agent.id, agent.locations[0].id)
    db.session.rollback()
    kill_at(point)
    request = PaymentRequest(1_250, key=key)
    created = creation.create_payment(work_context(), payment_processor(), cashier, request)
    say("began", created.transaction_id, created.intent.id)


def _cashier() -> Cashier:
    """The agent, in the work session that is there."""
    agent, session = db.session.scalars(select(PosAgent)).one(), db.session.scalars(select(PosSession)).one()
    author = Author(agent.site_id, "tests", clock())
    return Cashier(author, agent.user_id, agent.id, agent.locations[0].id, session.id)


def take_cash(order_id: str, point: str) -> None:
    """An agent takes a part of an order in cash, and the process is killed at a point."""
    cashier = _cashier()
    db.session.rollback()
    kill_at(point)
    request = CashRequest(500, tendered=1_000, order_id=order_id, key="coins")
    say("took", cash.take_cash(work_context(), cashier, request).payment.id)


def void_cash(transaction_id: str, point: str) -> None:
    """An agent takes a payment in cash back, and the process is killed at a point."""
    cashier = _cashier()
    db.session.rollback()
    kill_at(point)
    say(cash.void_cash(work_context(), cashier, transaction_id, "Wrong note")[0].status)


def refund_cash(transaction_id: str, point: str) -> None:
    """Cash is given back, and the process is killed at a point."""
    cashier = _cashier()
    db.session.rollback()
    kill_at(point)
    request = RefundRequest(transaction_id, 200, "One was broken", key="mug", session_id=cashier.session_id)
    say(request_refund(work_context(), cashier.author, payment_processor(), request).status)


def move_cash(point: str) -> None:
    """An agent takes cash out of the drawer, and the process is killed at a point."""
    cashier = _cashier()
    db.session.rollback()
    kill_at(point)
    request = MovementRequest(MovementType.PAY_OUT, 300, "Milk", key="milk")
    say("moved", movements.move_cash(work_context(), cashier, request).movement.id)


def close_session(point: str) -> None:
    """The work session is closed, unless it was before, and the process is killed at a point."""
    cashier = _cashier()
    db.session.rollback()
    kill_at(point)
    with transaction():
        session = existing(find_record(PosSession, cashier.author.site_id, cashier.session_id or "", True), "")
        if session.closed_at is None:
            sessions.close(cashier.author, session, 500, "")
        say("closed", session.z_number)


def refund(transaction_id: str, point: str) -> None:
    """Money is given back, and the process is killed at a point."""
    kill_at(point)
    request = RefundRequest(transaction_id, 500, "One mug was broken", key="mug")
    author = Author(site_id(), "tests", clock())
    say(request_refund(work_context(), author, payment_processor(), request).status)


def check_payments(point: str) -> None:
    """What is open at the processor is looked at, and the process is killed at a point."""
    kill_at(point)
    pos.check_due_payments()
    say("checked")


def deliver_payment_events(point: str) -> None:
    """The processor sends its events, and the process that receives them is killed at a point."""
    kill_at(point)
    pos.deliver_simulated_events()
    say("delivered")


DEEDS = (
    activate,
    save_structure,
    deliver,
    work_off_tasks,
    order,
    submit_basket,
    deliver_events,
    drain,
    replay,
    build_sitemap,
    take_bundle,
    run_bundle,
    receive_picture,
    pay,
    take_cash,
    void_cash,
    refund_cash,
    move_cash,
    close_session,
    refund,
    check_payments,
    deliver_payment_events,
)

"""Mails about orders: one of each kind, sent once, tried again, and the address forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.orders import mails
from app.domain.orders.basket import Contact
from app.domain.orders.checkout import place
from app.domain.orders.mails import OrderMailKind, Sender, order_mail
from app.domain.orders.models import Order, OrderLine, OrderMail
from app.domain.shared.author import Author
from app.domain.sites.models import Domain
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.mailing import Mail, MailNotSent
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import MIA, Shopper
from tests.fakes.clock import StoppedClock

SHOP = Sender("Fern & Co", "https://fern.test/")


class Post:
    """Takes mails, after as many refusals as a test says."""

    def __init__(self) -> None:
        self.sent: list[Mail] = []
        self.refusals = 0

    def send(self, mail: Mail) -> None:
        if self.refusals:
            self.refusals -= 1
            raise MailNotSent("The mail server is away.")
        self.sent.append(mail)

    def forget(self, address: str) -> int:
        return 0


@pytest.fixture
def post() -> Post:
    return Post()


@pytest.fixture
def work(mia: Shopper) -> WorkContext:
    return WorkContext(mia.clock, transaction)


def order(mia: Shopper, **contact: str) -> Order:
    mia.add("KETTLE", 2)
    return mia.order(contact=Contact("Mia", **({"email": "mia@home.test"} | contact))).order


def waiting() -> list[OrderMail]:
    db.session.rollback()
    return db.session.query(OrderMail).populate_existing().order_by(OrderMail.created_at).all()


def test_who_orders_gets_one_confirmation(mia: Shopper, work: WorkContext, post: Post) -> None:
    with transaction():
        db.session.add(Domain(site_id=mia.site_id, host="orders.test", primary=not db.session.query(Domain).count()))
    order(mia)
    [mail] = waiting()
    assert (mail.kind, mail.email) == ("received", "mia@home.test")
    assert mails.send(work, post, mail.id) and not mails.send(work, post, mail.id)
    [sent] = post.sent
    assert (sent.to, sent.subject.partition(" – ")[0]) == ("mia@home.test", "Order 1 received")
    assert "2 × Kettle" in sent.text
    assert [(mail.state, mail.email) for mail in waiting()] == [("done", None)]


def test_the_same_form_sent_twice_sends_no_second_one(mia: Shopper) -> None:
    order(mia)
    with transaction():
        placed = db.session.query(Order).one()
        assert mails.request_mail(Author(mia.site_id, "Ben", mia.clock), placed, OrderMailKind.RECEIVED) is None
    assert len(waiting()) == 1


@pytest.mark.parametrize("email", ["", "mïa@home.test"])
def test_who_left_no_address_that_mail_servers_take_gets_none(mia: Shopper, email: str) -> None:
    order(mia, email=email, phone="020 7946 0000")
    assert waiting() == []


def test_an_order_that_could_not_be_placed_is_not_confirmed(mia: Shopper) -> None:
    mia.add("KETTLE", 2)
    with pytest.raises(RuntimeError), transaction():
        place(mia.clock, mia.site_id, mia.token or "", MIA, mia.basket.seen)
        raise RuntimeError("The power is gone.")
    assert waiting() == []


def test_a_refused_mail_is_tried_again_and_given_up_after_three_days(
    mia: Shopper, work: WorkContext, post: Post, clock: StoppedClock
) -> None:
    order(mia)
    [mail], post.refusals = waiting(), 99
    mails.send(work, post, mail.id)
    assert [(one.state, one.error) for one in waiting()] == [("waiting", "The mail server is away.")]
    assert not mails.due(clock)
    clock.move(minutes=1)
    assert list(mails.due(clock)) == [mail.id]
    clock.move(seconds=timedelta(days=3).total_seconds())
    with transaction():
        leases.expire(mails.ORDER_MAIL, clock)
    assert [(one.state, one.email) for one in waiting()] == [("failed", None)]


def test_an_address_that_was_erased_meanwhile_gets_nothing(mia: Shopper, work: WorkContext, post: Post) -> None:
    order(mia)
    [mail] = waiting()
    with transaction():
        db.session.get_one(OrderMail, mail.id).email = None
    mails.send(work, post, mail.id)
    assert post.sent == [] and [one.state for one in waiting()] == ["failed"]


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("received", {"status": "CANCELLED"}, "The order was cancelled before the mail went out."),
        ("ready", {"status": "CANCELLED"}, "The order was cancelled before the mail went out."),
        ("ready", {"status": "COLLECTED"}, "The order was collected before the mail went out."),
        ("ready", {"ready_at": None}, "The order was marked as not ready before the mail went out."),
    ],
)
def test_a_mail_that_is_not_true_any_more_is_not_sent_and_is_no_failure(
    mia: Shopper, work: WorkContext, post: Post, kind: str, change: dict[str, object], reason: str
) -> None:
    placed, [mail] = order(mia), waiting()
    with transaction():
        db.session.get_one(OrderMail, mail.id).kind = kind
        for name, value in ({"ready_at": mia.clock.now()} | change).items():
            setattr(db.session.get_one(Order, placed.id), name, value)
    assert mails.send(work, post, mail.id)
    assert post.sent == []
    assert [(one.state, one.error, one.was_sent, one.email) for one in waiting()] == [("done", reason, False, None)]


def letter(kind: OrderMailKind, **more: object) -> Mail:
    lines = [
        OrderLine(quantity=2, name="Mug <b>", options={"Size": "L"}, unit_price=450),
        OrderLine(quantity=1, name="Cup\nX", options={}, unit_price=100),
    ]
    facts = {"number": 7, "total": 1000, "currency": "gbp", "contact_name": "Buy at evil.test", "note": "evil.test"}
    return order_mail(kind, Order(**(facts | more), lines=lines), SHOP, "mia@home.test", "key-1")


def test_a_confirmation_says_what_was_bought_and_where_it_is_paid() -> None:
    mail = letter(OrderMailKind.RECEIVED)
    assert mail.subject == "Order 7 received – Fern & Co"
    assert "Collect it at Fern & Co and pay there." in mail.text
    assert "2 × Mug <b> (Size: L): £9.00" in mail.text and "Total: £10.00" in mail.text
    assert "Mug &lt;b&gt;" in mail.html and "<b>" not in mail.html


def test_an_order_that_is_ready_says_so_and_whether_it_is_paid(clock: StoppedClock) -> None:
    mail = letter(OrderMailKind.READY, paid_at=clock.now())
    assert mail.subject == "Order 7 is ready to collect – Fern & Co"
    assert "collect it at Fern & Co. It is paid." in mail.text


@pytest.mark.parametrize("kind", OrderMailKind)
def test_nothing_that_the_customer_typed_is_mailed(kind: OrderMailKind) -> None:
    mail = letter(kind)
    assert "evil.test" not in f"{mail.subject}{mail.text}{mail.html}"

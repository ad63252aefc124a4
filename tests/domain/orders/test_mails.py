"""Mails about orders: one of each kind, sent once, tried again, and the address forgotten."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from app.domain.orders import lifecycle, mails
from app.domain.orders.basket import Contact
from app.domain.orders.checkout import place
from app.domain.orders.mail_contents import GivenBack, Letter, OrderMailKind, RefundFacts, order_mail
from app.domain.orders.models import Order, OrderLine, OrderMail
from app.domain.orders.queries import history
from app.domain.orders.shop_contact import ACCENT, THEME_ACCENTS, ShopContact
from app.domain.shared.author import Author
from app.domain.sites.models import Domain
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.mailing import Mail, MailNotSent
from app.extensions import db
from app.transaction import transaction
from app.web.themes.folders import BUILT_IN
from tests.domain.orders.conftest import MIA, Shopper
from tests.fakes.clock import StoppedClock

SHOP = ShopContact("Fern & Co", "https://fern.test/")
STATIC = BUILT_IN.parents[1] / "static"


SOURCES = mails.MailSources(
    order_path=lambda site_id, order_id: f"/order/link-{site_id}-{order_id}",
    given_back_of=lambda order: GivenBack.NOTHING,
    pictures_of=lambda site_id, lines: {line.sku: f"/picture/{line.sku}.png" for line in lines},
)


class Post:
    """Takes mails, after as many refusals as a test says."""

    reaches_people = True

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
    """The mails in the order in which they were requested; of one moment, in that of an order's life."""
    db.session.rollback()
    steps = {kind.value: step for step, kind in enumerate(OrderMailKind)}
    found = db.session.query(OrderMail).populate_existing().all()
    return sorted(found, key=lambda mail: (mail.created_at, steps.get(mail.kind, len(steps)), mail.refund_id))


def test_who_orders_gets_one_confirmation(mia: Shopper, work: WorkContext, post: Post) -> None:
    with transaction():
        db.session.add(Domain(site_id=mia.site_id, host="orders.test", primary=not db.session.query(Domain).count()))
    order(mia)
    [mail] = waiting()
    assert (mail.kind, mail.email) == ("received", "mia@home.test")
    assert mails.send(work, post, mail.id, SOURCES) and not mails.send(work, post, mail.id, SOURCES)
    [sent] = post.sent
    assert (sent.to, sent.subject.partition(" – ")[0]) == ("mia@home.test", "Order 1 received")
    assert "2 × Kettle" in sent.text
    assert re.search(r'<img src="https?://[^/"]+/picture/KETTLE.png"', sent.html)
    assert [(mail.state, mail.email) for mail in waiting()] == [("done", None)]


def test_a_shop_that_is_tried_links_to_the_address_at_which_it_is_served(mia: Shopper, post: Post) -> None:
    local = WorkContext(mia.clock, transaction, local_address="http://localhost:8000")
    assert local.address_of("localhost") == "http://localhost:8000"
    assert local.address_of("fern.test") == "https://fern.test"
    assert WorkContext(mia.clock, transaction).address_of("localhost") == "https://localhost"
    with transaction():
        db.session.query(Domain).update({"primary": False})
        db.session.query(Domain).filter_by(host="localhost").update({"primary": True, "site_id": mia.site_id})
    order(mia)
    [mail] = waiting()
    assert mails.send(local, post, mail.id, SOURCES)
    assert "http://localhost:8000/" in post.sent[0].text and "https://localhost" not in post.sent[0].html


def test_the_accents_of_mails_are_those_of_the_themes() -> None:
    sheets = {style.parent.name: style for style in BUILT_IN.glob("*/theme.css")}
    assert sheets.keys() == THEME_ACCENTS.keys()
    accents = {sheets[theme]: accent for theme, accent in THEME_ACCENTS.items()}
    for style, accent in (accents | {STATIC / "storefront" / "storefront.css": ACCENT}).items():
        assert f"--accent: light-dark({accent}," in style.read_text(encoding="utf-8")


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
    mails.send(work, post, mail.id, SOURCES)
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
    mails.send(work, post, mail.id, SOURCES)
    assert post.sent == [] and [one.state for one in waiting()] == ["failed"]


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("received", {"status": "CANCELLED"}, "The order was cancelled before the mail went out."),
        ("collected", {"status": "SUBMITTED"}, "The order was awaiting collection again before the mail went out."),
        ("ready", {"status": "CANCELLED"}, "The order was cancelled before the mail went out."),
        ("ready", {"status": "COLLECTED"}, "The order was collected before the mail went out."),
        (
            "collected",
            {"status": "SUBMITTED", "delivery_method": "Post"},
            "The order was not delivered after all before the mail went out.",
        ),
        (
            "ready",
            {"status": "COLLECTED", "delivery_method": "Post"},
            "The order was delivered before the mail went out.",
        ),
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
    assert mails.send(work, post, mail.id, SOURCES)
    assert post.sent == []
    assert [(one.state, one.error, one.was_sent, one.email) for one in waiting()] == [("done", reason, False, None)]


def test_a_mail_of_a_kind_that_a_later_release_brought_is_left_to_it(
    mia: Shopper, work: WorkContext, post: Post, clock: StoppedClock
) -> None:
    if db.engine.dialect.name != "sqlite":
        pytest.skip("Only SQLite can be told to store what a constraint refuses.")
    placed, [mail] = order(mia), waiting()
    with transaction():
        db.session.execute(text("pragma ignore_check_constraints = on"))
        db.session.get_one(OrderMail, mail.id).kind = "of later"
        db.session.flush()
        db.session.execute(text("pragma ignore_check_constraints = off"))
    assert list(mails.due(clock)) == []
    assert not mails.send(work, post, mail.id, SOURCES)
    with transaction():
        lifecycle.cancel(Author(mia.site_id, "Ben", mia.clock), placed.id)
    assert post.sent == []
    assert [(one.kind, one.state, one.email, one.attempts) for one in waiting()] == [
        ("of later", "waiting", "mia@home.test", 0)
    ]


def letter(
    kind: OrderMailKind, shop: ShopContact = SHOP, given_back: GivenBack = GivenBack.NOTHING, **more: object
) -> Mail:
    lines = [
        OrderLine(sku="MUG", quantity=2, name="Mug <b>", options={"Size": "L"}, unit_price=450),
        OrderLine(sku="CUP", quantity=1, name="Cup\nX", options={}, unit_price=100),
    ]
    facts = {"number": 7, "total": 1000, "currency": "gbp", "contact_name": "Buy at evil.test", "note": "evil.test"}
    pictures = {"MUG": "https://fern.test/mug.jpg"}
    letter = Letter(shop, "https://fern.test/order/link", pictures, RefundFacts(250), given_back)
    return order_mail(kind, Order(**(facts | more), lines=lines), letter, "mia@home.test", "key-1")


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


def test_a_mail_of_a_refund_says_how_much_went_back_and_how() -> None:
    assert "We gave back £2.50 of what you paid for your order, to your card" in letter(OrderMailKind.REFUNDED).text
    assert "You owe nothing; ask us about what you paid." in letter(OrderMailKind.CANCELLED, paid_amount=100).text
    transferred = letter(OrderMailKind.CANCELLED, paid_amount=100, paid_by_transfer=True)
    assert "You owe nothing; we transfer back what you paid." in transferred.text
    assert "was collected and paid" in letter(OrderMailKind.COLLECTED, status="COLLECTED").text


@pytest.mark.parametrize(
    ("kind", "given_back", "words"),
    [
        (OrderMailKind.CANCELLED, GivenBack.ALL, "You owe nothing, and what you paid was given back."),
        (
            OrderMailKind.CANCELLED,
            GivenBack.PART,
            "You owe nothing; part of what you paid was given back: ask us about",
        ),
        (OrderMailKind.READY, GivenBack.ALL, "It is paid; what you paid was given back."),
        (OrderMailKind.READY, GivenBack.PART, "It is paid; part of that was given back."),
        (OrderMailKind.COLLECTED, GivenBack.ALL, "your order was collected. We hope"),
        (OrderMailKind.COLLECTED, GivenBack.PART, "your order was collected and paid. We hope"),
    ],
)
def test_a_mail_says_that_money_was_given_back(
    clock: StoppedClock, kind: OrderMailKind, given_back: GivenBack, words: str
) -> None:
    mail = letter(kind, given_back=given_back, paid_at=clock.now(), paid_amount=1_000)
    assert words in mail.text and "ask us about what you paid" not in mail.text


def test_text_and_html_lead_to_the_order_and_say_where_and_when_to_collect_it() -> None:
    hours = (("Monday", "9 to 5"), ("Closed at Easter", ""))
    shop = replace(SHOP, address=("1 High Street", "London"), hours=hours, logo="/logo.png")
    mail = letter(OrderMailKind.RECEIVED, shop, status="SUBMITTED")
    assert "See your order: https://fern.test/order/link" in mail.text
    assert "Where and when to collect:\nFern & Co\n1 High Street\nLondon\nMonday: 9 to 5\nClosed at Easter" in mail.text
    assert 'href="https://fern.test/order/link"' in mail.html and "1 High Street<br>London" in mail.html
    assert ".ink .button{border-color:" in mail.html and '<td class="button"' in mail.html, "a dark one has an edge"
    assert 'src="https://fern.test/logo.png"' in mail.html and 'src="https://fern.test/mug.jpg"' in mail.html
    assert "to collect" not in letter(OrderMailKind.CANCELLED, shop, status="CANCELLED").text


def test_the_html_of_a_full_basket_is_small_and_fetches_nothing_but_pictures() -> None:
    lines = [OrderLine(sku="MUG", quantity=9, name="M" * 200, options={"S": "L" * 60}, unit_price=1) for _ in range(50)]
    facts = Order(number=7, total=1, currency="gbp", lines=lines)
    html = order_mail(OrderMailKind.READY, facts, Letter(SHOP, "https://fern.test/order/link"), "m@home.test", "k").html
    assert len(html.encode()) <= 60_000
    assert "<script" not in html and "<link" not in html and "max-width:600px" in html


@pytest.mark.parametrize("kind", OrderMailKind)
def test_nothing_that_the_customer_typed_is_mailed(kind: OrderMailKind) -> None:
    mail = letter(kind)
    assert "evil.test" not in f"{mail.subject}{mail.text}{mail.html}"


def test_each_refund_has_one_mail_and_a_shop_may_send_none(mia: Shopper) -> None:
    placed, author = order(mia), Author(mia.site_id, "Ben", mia.clock)

    def refund(refund_id: str) -> OrderMail | None:
        with transaction():
            return mails.request_refund_mail(author, db.session.get_one(Order, placed.id), refund_id, RefundFacts(250))

    assert refund("refund-1") and refund("refund-2") and refund("refund-1") is None
    assert [(mail.kind, mail.refund_id, mail.amount) for mail in waiting()][1:] == [
        ("refunded", "refund-1", 250),
        ("refunded", "refund-2", 250),
    ]
    with transaction():
        assert mails.change_mail_settings(author, mails.OrderMailSettings(collected=True, refunded=False))
    assert refund("refund-3") is None


def test_a_status_change_by_staff_is_mailed_and_noted(mia: Shopper, work: WorkContext, post: Post) -> None:
    placed, author = order(mia), Author(mia.site_id, "Ben", mia.clock)
    with transaction():
        lifecycle.collect(author, placed.id)
    assert [(mail.kind, mail.state) for mail in waiting()] == [("received", "done"), ("collected", "waiting")]
    assert history(mia.site_id, placed.id)[-1].summary == "Order 1 was collected and paid; an email says so"
    with transaction():
        lifecycle.reopen(author, placed.id)
    assert waiting()[1].error == "The order was awaiting collection again before the mail went out."
    with transaction():
        lifecycle.cancel(author, placed.id, by_email=True)
    assert [(mail.kind, mail.state) for mail in waiting()][2:] == [("cancelled", "waiting")]
    assert history(mia.site_id, placed.id)[-1].summary == "Order 1 was cancelled; an email says so"


def test_a_shop_that_sends_no_mail_about_collected_orders_sends_none(mia: Shopper) -> None:
    placed, author = order(mia), Author(mia.site_id, "Ben", mia.clock)
    with transaction():
        mails.change_mail_settings(author, mails.OrderMailSettings(collected=False, refunded=True))
        lifecycle.collect(author, placed.id)
    assert [mail.kind for mail in waiting()] == ["received"]


def test_a_confirmation_counts_as_sent_only_where_mails_leave_the_machine(
    mia: Shopper, work: WorkContext, post: Post
) -> None:
    placed = order(mia)
    assert mails.confirmation_of(placed, post) is mails.Confirmation.WAITING
    mails.send(work, post, waiting()[0].id, SOURCES)
    assert mails.confirmation_of(placed, post) is mails.Confirmation.SENT
    post.reaches_people = False
    assert mails.confirmation_of(placed, post) is mails.Confirmation.NOT_SENT
    with transaction():
        db.session.query(OrderMail).delete()
    assert mails.confirmation_of(placed, post) is mails.Confirmation.UNKNOWN

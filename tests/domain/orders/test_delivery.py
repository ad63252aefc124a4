"""Orders that are delivered: placed with their price, paid in advance or on delivery, sent, and purged."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from app.domain.delivery.addresses import Address
from app.domain.delivery.declaration import COLLECTION_ONLY, Delivery, DeliveryMethod, DeliveryPayment, RateKind
from app.domain.delivery.deliveries import read_sent, save_delivery
from app.domain.delivery.fields import RateStep
from app.domain.orders import lifecycle, mails
from app.domain.orders.checkout import BasketChanged, DeliveryNotSeen, Placed, place
from app.domain.orders.delivery_choice import COLLECT, DeliveryChoice
from app.domain.orders.mail_contents import GivenBack, Letter, OrderMailKind, order_mail
from app.domain.orders.models import Order, OrderMail
from app.domain.orders.payment import PaidSums, apply_payments
from app.domain.orders.purge import CONTACT_KEPT, RETENTIONS
from app.domain.orders.sales import sales_between
from app.domain.orders.shop_contact import ShopContact
from app.domain.orders.transfers import note_transfer, revoke_transfer
from app.domain.shared.author import Author
from app.domain.shared.money import LARGEST
from app.domain.shared.problems import Conflict, Invalid
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import FORM, MIA, Shopper
from tests.fakes.clock import StoppedClock
from tests.purging import purged

HOME = Address("", "1 Long Lane", "", "Kendal", "la94tn", "GB")
POST = DeliveryMethod("Post", steps=(RateStep(None, 395),), free_from=5_000, countries=("GB",), days="2–3 days")
COURIER = DeliveryMethod(
    "Courier",
    RateKind.WEIGHT,
    (RateStep(1_000, 800), RateStep(2_000, 1_200)),
    countries=("GB", "FR"),
    payment=DeliveryPayment.ON_DELIVERY,
)
OFFERED = Delivery(methods=(POST, COURIER), payment_instructions="Account 123\nSort code 45")
BY_POST, BY_COURIER = DeliveryChoice("Post", HOME), DeliveryChoice("Courier", HOME)


def offer(mia: Shopper, delivery: Delivery = OFFERED) -> None:
    with transaction():
        save_delivery(Author(mia.site_id, "Ada", mia.clock), None, read_sent(delivery.as_json()))


@pytest.fixture
def ada(mia: Shopper) -> Author:
    offer(mia)
    mia.add("KETTLE", 2)
    return Author(mia.site_id, "Ada", mia.clock)


def order(mia: Shopper, choice: DeliveryChoice, seen: str | None = None) -> Placed:
    shown = mia.basket.seen if seen is None else seen
    with transaction():
        return place(mia.clock, mia.site_id, mia.token or "", MIA, shown, form=FORM, choice=choice)


def agreed_order(mia: Shopper, choice: DeliveryChoice) -> str:
    """Return the id of an order whose total with delivery was seen."""
    with pytest.raises(DeliveryNotSeen) as unseen:
        order(mia, choice)
    return order(mia, choice, unseen.value.agreed.seen(mia.basket)).order.id


def stored(order_id: str) -> Order:
    db.session.rollback()
    return db.session.get_one(Order, order_id)


def test_an_order_is_placed_once_its_total_with_delivery_was_seen(mia: Shopper, ada: Author) -> None:
    with pytest.raises(DeliveryNotSeen) as unseen:
        order(mia, BY_POST)
    assert unseen.value.agreed.price == 395 and db.session.query(Order).one().status == "OPEN"
    placed = stored(agreed_order(mia, BY_POST))
    assert (placed.total, placed.delivery_price, placed.delivery_weight) == (4_395, 395, 1_000)
    assert (placed.delivery_method, placed.delivery_days, placed.delivery_payment) == ("Post", "2–3 days", "inAdvance")
    assert placed.address == Address("Mia Moss", "1 Long Lane", "", "Kendal", "LA9 4TN", "GB")
    now = mia.clock.now()
    sold = sales_between(mia.site_id, "gbp", now - timedelta(days=1), now + timedelta(days=1))
    assert (sold.orders, sold.revenue) == (1, 4_395), "what delivery costs is revenue"


def test_delivery_is_free_from_its_value_on(mia: Shopper, ada: Author) -> None:
    mia.add("MUG", 2)
    placed = stored(agreed_order(mia, BY_POST))
    assert (placed.total, placed.delivery_price) == (5_000, 0)


def test_whatever_a_basket_weighs_it_can_be_ordered(mia: Shopper, ada: Author) -> None:
    offer(mia, replace(OFFERED, default_weight=LARGEST))
    mia.add("MUG", 3)
    assert stored(agreed_order(mia, BY_POST)).delivery_weight == LARGEST


def test_a_price_that_changed_since_it_was_seen_is_not_agreed_to(mia: Shopper, ada: Author) -> None:
    with pytest.raises(DeliveryNotSeen) as unseen:
        order(mia, BY_POST)
    dearer = replace(POST, steps=(RateStep(None, 495),))
    offer(mia, replace(OFFERED, methods=(dearer, COURIER)))
    with pytest.raises(BasketChanged):
        order(mia, BY_POST, unseen.value.agreed.seen(mia.basket))
    assert db.session.query(Order).one().status == "OPEN"


def test_an_order_that_is_collected_has_no_address_whatever_was_sent(mia: Shopper, ada: Author) -> None:
    placed = stored(order(mia, replace(COLLECT, address=HOME)).order.id)
    assert (placed.total, placed.address, placed.is_delivered) == (4_000, Address(), False)


def test_what_cannot_be_delivered_is_refused_with_every_problem(mia: Shopper, ada: Author) -> None:
    def codes(choice: DeliveryChoice) -> list[tuple[str, str]]:
        with pytest.raises(Invalid) as refused:
            order(mia, choice)
        return [(problem.code, problem.pointer) for problem in refused.value.problems]

    assert codes(DeliveryChoice("Pigeon", HOME)) == [("method_gone", "#/method")]
    by_post_to_france = DeliveryChoice("Post", replace(HOME, country="FR", postcode="75001"))
    assert codes(by_post_to_france) == [("country_not_served", "#/country")]
    mia.add("MUG", 30)
    assert codes(BY_COURIER) == [("not_offered", "#/method")], "sixteen kilograms by the shop's default weight"
    offer(mia, replace(OFFERED, collection=False))
    assert codes(COLLECT) == [("required", "#/method")]


def test_an_order_in_advance_is_sent_once_its_payment_arrived(mia: Shopper, ada: Author) -> None:
    order_id = agreed_order(mia, BY_POST)
    for act in (lifecycle.mark_ready, lifecycle.collect):
        with pytest.raises(Conflict, match="paid before it is sent"), transaction():
            act(ada, order_id)
    with transaction():
        assert note_transfer(ada, order_id).changed and not note_transfer(ada, order_id).changed
    paid = stored(order_id)
    assert (paid.amount_due, paid.paid_amount, paid.awaits_transfer) == (0, 4_395, False)
    with transaction():
        lifecycle.mark_ready(ada, order_id)
    with pytest.raises(Conflict, match="was sent"), transaction():
        revoke_transfer(ada, order_id)
    with transaction():
        lifecycle.collect(ada, order_id)
    assert stored(order_id).status == "COLLECTED"


def test_an_order_of_any_total_is_paid_by_transfer(mia: Shopper, ada: Author) -> None:
    order_id = agreed_order(mia, BY_POST)
    with transaction():
        db.session.get_one(Order, order_id).total = 99 * LARGEST
        note_transfer(ada, order_id)
    assert stored(order_id).paid_amount == 99 * LARGEST
    table = str(CreateTable(Order.__table__).compile(dialect=postgresql.dialect()))  # type: ignore[arg-type, no-untyped-call]
    assert "paid_amount BIGINT" in table and "reserved_amount BIGINT" in table


def test_the_rest_of_an_order_that_was_paid_in_part_at_a_till_comes_by_transfer(mia: Shopper, ada: Author) -> None:
    order_id = agreed_order(mia, BY_POST)
    with transaction():
        apply_payments(mia.clock, db.session.get_one(Order, order_id), PaidSums(in_cash=1_000, reserved=500))
    with pytest.raises(Conflict, match="under way"), transaction():
        note_transfer(ada, order_id)
    with transaction():
        apply_payments(mia.clock, db.session.get_one(Order, order_id), PaidSums(in_cash=1_000))
        note_transfer(ada, order_id)
    paid = stored(order_id)
    assert (paid.amount_due, paid.paid_amount, paid.transferred) == (0, 4_395, 3_395)
    with transaction():
        revoke_transfer(ada, order_id)
    again = stored(order_id)
    assert (again.amount_due, again.paid_amount, again.transferred) == (3_395, 1_000, 0) and again.awaits_transfer


def test_a_transfer_that_was_no_payment_is_revoked_and_one_of_a_cancelled_order_goes_back(
    mia: Shopper, ada: Author
) -> None:
    order_id = agreed_order(mia, BY_POST)
    with transaction():
        note_transfer(ada, order_id)
        revoke_transfer(ada, order_id)
        assert not revoke_transfer(ada, order_id).changed
    assert stored(order_id).awaits_transfer
    with transaction():
        note_transfer(ada, order_id)
        lifecycle.cancel(ada, order_id)
    assert stored(order_id).paid_by_transfer
    with pytest.raises(Conflict, match="was cancelled"), transaction():
        stored(order_id).paid_by_transfer = False
        note_transfer(ada, order_id)
    with transaction():
        revoke_transfer(ada, order_id)
    assert (stored(order_id).paid_amount, stored(order_id).paid_at) == (0, None)


def test_an_order_that_is_paid_on_delivery_takes_no_transfer(mia: Shopper, ada: Author) -> None:
    order_id = agreed_order(mia, BY_COURIER)
    with pytest.raises(Conflict, match="not paid by bank transfer"), transaction():
        note_transfer(ada, order_id)
    with transaction():
        lifecycle.mark_ready(ada, order_id)
    assert stored(order_id).is_ready


def test_mails_say_how_it_comes_and_is_paid_and_not_to_whom(mia: Shopper, ada: Author) -> None:
    placed = stored(agreed_order(mia, BY_POST))

    def words(kind: OrderMailKind) -> str:
        shop = ShopContact("Small shop", "https://shop.test/", address=("2 High Street",))
        letter = Letter(shop, "https://shop.test/order/x", payment_instructions=OFFERED.payment_instructions)
        sent = order_mail(kind, placed, letter, "mia@home.test", "key")
        assert "Long Lane" not in sent.text + sent.html and "collect" not in (sent.subject + sent.text).lower()
        return f"{sent.subject}\n{sent.text}"

    received = words(OrderMailKind.RECEIVED)
    assert "Please pay £43.95 by bank transfer." in received and "Delivery: £3.95" in received
    assert "How to pay:\nAccount 123\nSort code 45\nAmount: £43.95\nReference: Order 1" in received
    with transaction():
        note_transfer(ada, placed.id)
        lifecycle.mark_ready(ada, placed.id)
    placed = stored(placed.id)
    ready = words(OrderMailKind.READY)
    assert (
        "Order 1 is on its way" in ready and "by Post (2–3 days). It is paid." in ready and "Account 123" not in ready
    )
    with transaction():
        lifecycle.collect(ada, placed.id)
    placed = stored(placed.id)
    assert "your order was delivered and paid" in words(OrderMailKind.COLLECTED)


def test_a_mail_of_an_order_that_is_paid_on_delivery_says_so(mia: Shopper, ada: Author) -> None:
    placed = stored(agreed_order(mia, BY_COURIER))
    letter = Letter(ShopContact("Small shop", "https://shop.test/"), "https://shop.test/order/x")
    sent = order_mail(OrderMailKind.RECEIVED, placed, letter, "mia@home.test", "key")
    assert "We send it to the address that you gave, by Courier. You pay when it arrives." in sent.text
    assert [mail.kind for mail in db.session.query(OrderMail)] == ["received"]
    assert mails.can_mail(placed, OrderMailKind.READY) and letter.given_back is GivenBack.NOTHING


def test_the_address_goes_with_the_contact(mia: Shopper, ada: Author, clock: StoppedClock) -> None:
    order_id = agreed_order(mia, BY_COURIER)
    with transaction():
        lifecycle.mark_ready(ada, order_id)
        lifecycle.collect(ada, order_id)
    clock.move(seconds=(CONTACT_KEPT + timedelta(days=1)).total_seconds())
    purged(clock, *RETENTIONS)
    kept = stored(order_id)
    assert (kept.contact_name, kept.address) == ("", Address(country="GB"))
    assert (kept.delivery_method, kept.delivery_price, kept.total) == ("Courier", 800, 4_800)


def test_an_address_that_stayed_when_its_contact_went_goes_too(mia: Shopper, ada: Author, clock: StoppedClock) -> None:
    """As it stays where the release before purges or erases contacts beside this one."""
    order_id = agreed_order(mia, BY_COURIER)
    with transaction():
        lifecycle.mark_ready(ada, order_id)
        lifecycle.collect(ada, order_id)
        stored_order = db.session.get_one(Order, order_id)
        stored_order.contact_name, stored_order.token_hash = "", None
    clock.move(seconds=(CONTACT_KEPT + timedelta(days=1)).total_seconds())
    purged(clock, *RETENTIONS)
    assert stored(order_id).address == Address(country="GB")


def test_saving_what_is_stored_changes_nothing(mia: Shopper) -> None:
    author = Author(mia.site_id, "Ada", mia.clock)
    offer(mia)
    with transaction():
        assert not save_delivery(author, 1, read_sent(OFFERED.as_json()))
    assert read_sent(OFFERED.as_json()) == OFFERED.tidied() and read_sent({}) == COLLECTION_ONLY

"""A person is found, exported and erased; the books stay, and so do all others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app.adapters.erasure_file import FileErasures
from app.adapters.mail import FolderMailer
from app.adapters.simulator.models import SimulatorIntent
from app.domain.bundles import runs
from app.domain.bundles.folder import BundleFolder
from app.domain.bundles.models import BundleRun
from app.domain.bundles.parts import Part
from app.domain.orders.contact import Contact, clean_contact
from app.domain.orders.letters import OrderMailKind
from app.domain.orders.mails import request_mail
from app.domain.orders.models import Order, OrderMail
from app.domain.personal_data.erasing import Erasure, OutsideStores, brought_back, erase
from app.domain.personal_data.exporting import export, kept_about
from app.domain.personal_data.obstacles import obstacles
from app.domain.personal_data.people import Person, find_person
from app.domain.pos.models import PosAgent, PosRefund, PosTransaction, PosTransactionEvent
from app.domain.shared.author import Author
from app.domain.shared.mailing import Mail
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites import audit
from app.domain.sites.models import AuditEntry, Site, User
from app.domain.sites.roles import Role
from app.extensions import Base, db
from app.transaction import transaction
from tests.factories import (
    PASSWORD,
    WHEN,
    make_agent,
    make_golden,
    make_location,
    make_order,
    make_site,
    make_transaction,
    make_user,
    make_work_session,
)
from tests.fakes.clock import StoppedClock

SAM = "sam@home.test"


class Shop:
    """A shop where Sam bought something, and Nia Nettle works."""

    def __init__(self, clock: StoppedClock, folder: Path) -> None:
        self.clock = clock
        self.mails = folder / "mail"
        self.mailer = FolderMailer(self.mails)
        self.bundles = BundleFolder(folder / "bundles")
        self.stores = OutsideStores(b"k" * 32, FileErasures(folder / "erasures.list"), self.mailer, self.bundles)
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


@pytest.fixture
def shop(context: None, clock: StoppedClock, tmp_path: Path) -> Shop:
    return Shop(clock, tmp_path)


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
        audit.record(nia, "pos.refund", ("pos_transaction", payment), "Refunded £1.00: Sam’s mug broke")
        intent = {"id": "pi_sam", "account_id": "", "amount": 1_250, "currency": "gbp", "status": "succeeded"}
        db.session.get_one(PosTransaction, payment).processor_intent_id = "pi_sam"
        sent = {"description": "For Sam Sedge", "labels": {"customer": "Sam Sedge"}}
        db.session.add(SimulatorIntent(**intent, **sent, created_at=WHEN))
        audit.record(nia, "x.mail", ("x", "1"), "Wrote to sam@home.test", after={"to": ["SAM@home.test"]})
    return order, payment


def test_a_shopper_is_erased_and_the_books_stay(shop: Shop) -> None:
    order_id, payment_id = bought(shop)
    assert named(SAM, "Sam Sedge", "mug broke", "0123 456", "Ring twice")
    erasure = shop.erase("SAM@home.test ")
    assert not named("sam@home", "sam sedge", "mug broke", "0123 456", "ring twice", "a" * 64)
    order, payment = db.session.get_one(Order, order_id), db.session.get_one(PosTransaction, payment_id)
    refund = db.session.get_one(PosRefund, "refund-1")
    assert (order.contact_name, order.total, order.number is not None) == ("Erased", 2_500, True)
    assert [line.sku for line in order.lines] == ["SKU-9"]
    assert (payment.captured_amount, payment.status, refund.amount, refund.reason) == (
        1_250,
        "SUCCEEDED",
        100,
        "Erased",
    )
    assert erasure.records == {"Refunds": 1, "Card payments": 1, "Orders and baskets": 1}
    summaries = set(db.session.scalars(select(AuditEntry.summary)))
    assert {"Refunded £1.00: erased", "Wrote to erased address"} <= summaries


def test_the_erasure_is_in_the_activity_log_without_what_was_erased(shop: Shop) -> None:
    shop.order()
    shop.erase()
    entry = db.session.scalars(select(AuditEntry)).one()
    assert (entry.actor, entry.action) == ("Mia Moss", "personal_data.erase")
    assert entry.summary.startswith("Erased a person. Orders and baskets: 1;")


def test_all_others_stay_as_they_are(shop: Shop) -> None:
    bought(shop)
    shop.order(contact_name="Sam Sedge", contact_email="other@home.test", note="Wait for Sam Sedge")
    with transaction():
        elsewhere = make_site("other.localhost", "Other")
        make_order(elsewhere, contact_email=SAM)
    shop.erase()
    kept = db.session.execute(select(Order.contact_name, Order.contact_email).where(Order.contact_email != "")).all()
    assert sorted(kept) == [("Sam Sedge", "other@home.test"), ("Sam Sedge", SAM)]
    with pytest.raises(NotFound):
        shop.find()


def test_an_order_without_an_address_is_found_by_its_number(shop: Shop) -> None:
    order_id = shop.order(number=77, contact_email="", contact_phone="0123 456 789")
    for words in ("77", "#77", " Order 77"):
        assert shop.find(words).order_id == order_id
    shop.erase("77")
    assert db.session.get_one(Order, order_id).contact_phone == ""


def test_an_order_with_an_address_leads_to_all_of_the_person(shop: Shop) -> None:
    shop.order(number=77)
    shop.order(number=78)
    kept = {one.holding.name: one.number for one in kept_about(shop.find("77"))}
    assert kept == {"orders": 2, "orderLines": 2}


@pytest.mark.parametrize("words", ["", "sam", "12.5", "99999999999", "a b@c"])
def test_what_is_neither_an_address_nor_a_number_is_refused(shop: Shop, words: str) -> None:
    with pytest.raises(Invalid):
        shop.find(words)


@pytest.mark.parametrize("address", ["o'brien@home.test", "Zoë.O'Brien@fußball.test", "JÖRG@JÄGER.test"])
def test_every_address_that_orders_take_is_found(shop: Shop, address: str) -> None:
    order_id = shop.order(contact_email=clean_contact(Contact("Zoë", address)).email)
    for words in (address, address.upper().replace("SS", "ß")):
        assert [one.number for one in kept_about(shop.find(words)) if one.holding.name == "orders"] == [1]
    with transaction():
        audit.record(shop.author, "x.do", ("x", "1"), f"Wrote to {address}", after={"to": address})
    shop.erase(address)
    assert db.session.get_one(Order, order_id).contact_email == ""
    assert not named(address)
    with transaction():  # As a backup would bring it back.
        db.session.get_one(Order, order_id).contact_email = address
    assert [person.email for person in brought_back(shop.stores, shop.author)] == [address.lower()]


@pytest.mark.parametrize("words", ["no@body.test", "4711"])
def test_nobody_is_found_where_nothing_is_kept(shop: Shop, words: str) -> None:
    with pytest.raises(NotFound):
        shop.find(words)


def test_emails_about_orders_are_listed_and_their_addresses_erased_once_none_is_on_its_way(shop: Shop) -> None:
    with transaction():
        order = make_order(shop.site(), contact_email=SAM, status="COLLECTED")
        mail = request_mail(shop.author, order, OrderMailKind.READY)
        assert mail is not None
        order_id, mail_id = order.id, mail.id
    assert [(one.order_id, "is being sent" in one.reason) for one in obstacles(shop.find())] == [(order_id, True)]
    with transaction():
        db.session.get_one(OrderMail, mail_id).state = "failed"
    assert {one.holding.name: one.number for one in kept_about(shop.find())}["orderMails"] == 1
    assert shop.erase().records["Emails about orders"] == 1
    assert not named(SAM)


def test_an_order_that_waits_postpones_the_erasure_with_its_reason(shop: Shop) -> None:
    shop.order(number=77, status="SUBMITTED")
    shop.payment("PENDING", order_id=shop.order(number=78))
    with pytest.raises(Invalid) as refused:
        shop.erase()
    reasons = [problem.message for problem in refused.value.problems]
    assert reasons[0] == "Order 77 is awaiting collection: hand it over or cancel it first."
    assert reasons[1].startswith("A card payment of 2026-11-01 is not settled")
    assert named(SAM)
    assert shop.stores.list.lines() == []


def test_a_refund_whose_outcome_is_unknown_postpones_the_erasure(shop: Shop) -> None:
    _, payment = bought(shop)
    with transaction():
        db.session.get_one(PosRefund, "refund-1").status = "UNKNOWN"
    assert [one.payment_id for one in obstacles(shop.find())] == [payment]


def test_a_user_is_closed_and_the_activity_log_keeps_a_number(shop: Shop) -> None:
    with transaction():
        nia = Author(shop.site_id, "Nia Nettle", shop.clock)
        audit.record(nia, "product.save", ("product", "1"), "Saved Mug")
        audit.record(
            shop.author, "user.change", ("user", str(shop.nia)), "Changed Nia N.", {"displayName": "Nia N."}, {}
        )
        audit.record(Author(shop.site_id, "Nia N.", shop.clock), "product.save", ("product", "2"), "Saved Cup")
        make_golden(shop.site(), "SKU-1", updated_by="Nia Nettle")
    payment = shop.payment()
    shop.erase("nia@shop.test")
    assert not named("nia@shop", "nia n")
    user, pseudonym = db.session.get_one(User, shop.nia), f"Erased user {shop.nia}"
    assert (user.display_name, user.enabled, user.password_hash, user.grants) == (pseudonym, False, None, [])
    done = {entry.summary: entry.actor for entry in db.session.scalars(select(AuditEntry))}
    assert (done["Saved Mug"], done["Saved Cup"]) == (pseudonym, pseudonym)
    assert done[f"Changed {pseudonym}"] == "Mia Moss"
    assert db.session.get_one(PosTransaction, payment).agent.display_name == pseudonym


def test_a_name_of_several_users_stays_with_the_others(shop: Shop) -> None:
    with transaction():
        make_user(shop.site(), Role.ADMIN, email="other@shop.test", name="Nia Nettle")
        audit.record(Author(shop.site_id, "Nia Nettle", shop.clock), "x.do", ("x", "1"), "Did")
    person = shop.find("nia@shop.test")
    assert person.account is not None
    assert person.account.shared_names == {"Nia Nettle"}
    shop.erase("nia@shop.test")
    assert db.session.scalars(select(AuditEntry.actor).where(AuditEntry.action == "x.do")).one() == "Nia Nettle"


def test_a_name_of_one_word_stays_in_texts_about_other_things(shop: Shop) -> None:
    with transaction():
        make_user(shop.site(), Role.ADMIN, email="rose@shop.test", name="Rose")
        audit.record(Author(shop.site_id, "Rose", shop.clock), "product.save", ("product", "1"), "Saved Rose Teapot")
    shop.erase("rose@shop.test")
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "product.save")).one()
    assert entry.summary == "Saved Rose Teapot"
    assert entry.actor.startswith("Erased user ")


def test_names_in_other_letters_are_found_within_json(shop: Shop) -> None:
    with transaction():
        make_user(shop.site(), Role.ADMIN, email="zoe@shop.test", name="Zoë Öström")
        audit.record(shop.author, "x.do", ("x", "1"), "Did", after={"by": ["Zoë Öström"]})
    shop.erase("zoe@shop.test")
    assert not named("Öström")


def test_work_at_a_till_is_ended_first(shop: Shop) -> None:
    with transaction():
        session = make_work_session(db.session.get_one(PosAgent, shop.agent), ip="10.1.2.3", closing_note="For Tom")
    with pytest.raises(Invalid, match="close that session first"):
        shop.erase("nia@shop.test")
    with transaction():
        session.ended_at = WHEN
    shop.erase("nia@shop.test")
    assert not named("10.1.2.3", "For Tom", "Phone")


def test_one_who_wrote_hundreds_of_notes_is_erased_with_all_of_them(shop: Shop) -> None:
    """SQLite nests a condition a thousand deep at most."""
    with transaction():
        agent = db.session.get_one(PosAgent, shop.agent)
        for day in range(400):
            make_work_session(agent, ended_at=WHEN, closing_note=f"Day {day}, for Tom")
        audit.record(shop.author, "pos_agent.save", ("pos_agent", str(agent.id)), "Said: day 7, for tom")
        audit.record(shop.author, "pos_agent.save", ("pos_agent", str(agent.id)), "Day 1, for Tom. Day 399, for Tom")
    shop.erase("nia@shop.test")
    assert not named("for Tom")


def test_somebody_of_another_shop_is_not_found_here(shop: Shop) -> None:
    with transaction():
        make_user(make_site("other.localhost", "Other"), Role.ADMIN, email="oz@shop.test")
    with pytest.raises(NotFound):
        shop.find("oz@shop.test")


def test_mails_that_are_kept_as_files_go(shop: Shop, tmp_path: Path) -> None:
    for number, to in enumerate((SAM, "Sam@home.test", "other@home.test")):
        shop.mailer.send(Mail(to, "Your receipt", "Thank you", "<p>Thank you</p>", f"mail-{number}"))
    shop.order()
    assert shop.erase().mails == 2
    assert [file.name for file in (tmp_path / "mail").iterdir()] == ["mail-2.eml"]


def test_exports_that_are_kept_for_a_day_go_with_a_user(shop: Shop) -> None:
    with transaction():
        run = runs.request_export(shop.author, shop.nia, "all", frozenset(Part))
    with pytest.raises(Invalid, match="wait until it is done"):
        shop.erase("nia@shop.test")
    with transaction():
        run.file, run.state, run.kept_until = shop.bundles.new_name(), "done", shop.clock.now() + timedelta(days=1)
        shop.bundles.path(run.file).write_text("nia@shop.test")
    shop.erase("nia@shop.test")
    run = db.session.scalars(select(BundleRun)).one()
    assert not shop.bundles.path(run.file or "").exists()
    with pytest.raises(NotFound):
        runs.export_file(shop.clock, shop.site_id, run.id)


def test_the_file_of_a_transfer_to_another_shop_goes_with_a_user(shop: Shop) -> None:
    with transaction():
        author = Author(make_site("other.localhost", "Other").id, "Oz", shop.clock)
        source = shop.site_id, "shop.localhost"
        run = runs.request_transfer(author, shop.nia, source, shop.bundles.new_name(), frozenset((Part.USERS,)))
    with pytest.raises(Invalid, match="wait until it is done"):
        shop.erase("nia@shop.test")
    with transaction():
        run.state, run.kept_until = "done", shop.clock.now() + timedelta(days=1)
        file = shop.bundles.path(run.file or "")
        file.write_text("nia@shop.test")
    assert runs.summary_of(shop.clock, run).may_follow
    shop.erase("nia@shop.test")
    assert not file.exists()
    assert not runs.summary_of(shop.clock, db.session.scalars(select(BundleRun)).one()).may_follow


def test_the_export_is_json_with_all_of_it_and_no_secret(shop: Shop) -> None:
    bought(shop)
    exported = json.loads("".join(export(shop.find(), shop.clock.now())))
    assert exported["orders"]["records"][0]["contactPhone"] == "0123 456 789"
    assert exported["payments"]["records"][0]["amountInPence"] == 1_250
    assert exported["refunds"]["records"][0]["reason"] == "Sam’s mug broke"
    assert "a" * 64 not in json.dumps(exported)
    staff = json.loads("".join(export(shop.find("nia@shop.test"), shop.clock.now())))
    assert staff["account"]["records"][0]["email"] == "nia@shop.test"
    assert {entry["summary"] for entry in staff["activity"]["records"]} >= {"Wrote to sam@home.test"}
    assert "argon2" not in json.dumps(staff)
    assert PASSWORD not in json.dumps(staff)


def test_a_restored_backup_is_erased_again_and_newer_orders_stay(shop: Shop) -> None:
    order_id, nameless = shop.order(), shop.order(number=900_077, contact_email="", contact_phone="0123 456 789")
    shop.erase()
    shop.erase("900077")
    assert "sam" not in "".join(shop.stores.list.lines())
    with transaction():  # As a backup would.
        restored = db.session.get_one(Order, order_id)
        restored.contact_name, restored.contact_email = "Sam Sedge", SAM
        db.session.get_one(Order, nameless).contact_name = "Ann Ash"
    newer = shop.order(created_at=shop.clock.now() + timedelta(hours=1))
    db.session.rollback()
    for person in list(brought_back(shop.stores, shop.author)):
        erase(transaction, shop.author, person, shop.stores)
    names = dict(db.session.execute(select(Order.id, Order.contact_name)).all())
    assert names == {order_id: "Erased", nameless: "Erased", newer: "Sam Sedge"}
    db.session.rollback()
    assert list(brought_back(shop.stores, shop.author)) == []


def test_nothing_is_erased_where_the_list_cannot_be_written(shop: Shop, tmp_path: Path) -> None:
    shop.order()
    mail, export = sent_mail(shop, "nia@shop.test"), exported_bundle(shop)
    (tmp_path / "erasures.list").mkdir()
    for words in (SAM, "nia@shop.test"):
        with pytest.raises(Conflict, match="could not be written"):
            shop.erase(words)
    assert named(SAM)
    assert mail.exists()
    assert export.exists()


def test_no_file_is_removed_before_the_commit(shop: Shop) -> None:
    shop.order()
    mail, export = sent_mail(shop, "nia@shop.test"), exported_bundle(shop)
    person = shop.find("nia@shop.test")
    with pytest.raises(OSError, match="full"):
        erase(failing_to_commit, shop.author, person, shop.stores)
    assert named("nia@shop.test")
    assert mail.exists()
    assert export.exists()


def test_files_that_cannot_be_removed_are_named_in_the_summary(shop: Shop) -> None:
    shop.order()
    sent_mail(shop, SAM)
    unreadable = shop.mails / "other.eml"
    unreadable.mkdir()
    erasure = shop.erase()
    assert "could not be removed (Is a directory). Remove them on the server" in erasure.summary
    assert not named(SAM)


@contextmanager
def failing_to_commit() -> Iterator[None]:
    with transaction():
        yield
        raise OSError("The disk is full.")


def sent_mail(shop: Shop, to: str) -> Path:
    shop.mailer.send(Mail(to, "Your receipt", "Thank you", "<p>Thank you</p>", "mail"))
    return shop.mails / "mail.eml"


def exported_bundle(shop: Shop) -> Path:
    with transaction():
        run = runs.request_export(shop.author, shop.nia, "all", frozenset(Part))
        run.file, run.state, run.kept_until = shop.bundles.new_name(), "done", shop.clock.now() + timedelta(days=1)
    path = shop.bundles.path(run.file)
    path.write_text("nia@shop.test")
    return path


def test_a_torn_line_of_the_list_hides_no_other(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "erasures.list").write_text('{"at": "2026-')
    shop.order()
    shop.erase()
    assert len(shop.stores.list.lines()) == 2
    with transaction():
        db.session.scalars(select(Order)).one().contact_email = SAM
    db.session.rollback()
    assert len(list(brought_back(shop.stores, shop.author))) == 1

"""Receipts by email: sent once, tried again, and the address forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.pos import receipts
from app.domain.pos.models import PosAgent, PosLocation, PosReceiptMail
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, TooManyRequests
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.mailing import Mail, MailNotSent
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_site, make_transaction, make_user
from tests.fakes.clock import StoppedClock

ADDRESS, LINK = "sam@home.test", "https://shop.test/r/x.y"


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
def author(context: None, clock: StoppedClock) -> Author:
    with transaction():
        site = make_site()
        location = make_location(site)
        make_agent(site, make_user(site, Role.POS_AGENT), location)
        return Author(site.id, "Tilly Till", clock)


@pytest.fixture
def work(author: Author, clock: StoppedClock) -> WorkContext:
    return WorkContext(clock, transaction)


def payment(author: Author, status: str = "SUCCEEDED", **more: object) -> str:
    with transaction():
        agent, location = db.session.query(PosAgent).one(), db.session.query(PosLocation).one()
        return make_transaction(agent, location, status, created_at=author.now(), **more).id


def requested(author: Author, payment_id: str | None = None, email: str = ADDRESS) -> str:
    payment_id = payment_id or payment(author)
    with transaction():
        return receipts.request_mail(author, payment_id, email, LINK).id


def row(mail_id: str) -> PosReceiptMail:
    db.session.rollback()
    return db.session.get_one(PosReceiptMail, mail_id, populate_existing=True)


def test_a_receipt_is_sent_once_and_the_address_forgotten(author: Author, work: WorkContext, post: Post) -> None:
    mail_id = requested(author)
    assert row(mail_id).email == ADDRESS
    assert receipts.send_mail(work, post, mail_id) and not receipts.send_mail(work, post, mail_id)
    assert [mail.to for mail in post.sent] == [ADDRESS]
    assert (row(mail_id).state, row(mail_id).email) == ("done", None)


def test_a_refused_mail_is_tried_ever_less_often(
    author: Author, work: WorkContext, post: Post, clock: StoppedClock
) -> None:
    mail_id, post.refusals = requested(author), 2
    receipts.send_mail(work, post, mail_id)
    assert (row(mail_id).state, row(mail_id).error) == ("waiting", "The mail server is away.")
    assert not receipts.due_mails(clock) and not receipts.send_mail(work, post, mail_id)
    clock.move(minutes=1)
    assert list(receipts.due_mails(clock)) == [mail_id]
    receipts.send_mail(work, post, mail_id)
    clock.move(minutes=4)
    assert not receipts.due_mails(clock)
    clock.move(minutes=1)
    receipts.send_mail(work, post, mail_id)
    assert len(post.sent) == 1 and (row(mail_id).state, row(mail_id).error) == ("done", None)


def test_after_three_days_it_is_given_up_and_the_address_forgotten(
    author: Author, work: WorkContext, post: Post, clock: StoppedClock
) -> None:
    mail_id, post.refusals = requested(author), 99
    receipts.send_mail(work, post, mail_id)
    clock.move(days=3)
    with transaction():
        leases.expire(receipts.RECEIPT_MAIL, clock)
    assert (row(mail_id).state, row(mail_id).email) == ("failed", None)


def test_a_mail_shows_the_receipt_as_it_is_when_it_is_sent(author: Author, work: WorkContext, post: Post) -> None:
    payment_id = payment(author, "PARTIALLY_REFUNDED", refunded_amount=250)
    receipts.send_mail(work, post, requested(author, payment_id))
    assert "£10.00" in post.sent[0].text and LINK in post.sent[0].text


@pytest.mark.parametrize("status", ["PENDING", "FAILED", "CANCELLED", "UNKNOWN"])
def test_there_is_no_receipt_without_a_payment(author: Author, status: str) -> None:
    with pytest.raises(NotFound):
        requested(author, payment(author, status))


@pytest.mark.parametrize(
    "email", ["", "sam", "sam@home", "a b@home.test", "4242424242424242@home.test", "sam@home.test\r\nBcc: x@y.test",
              "x" * 250 + "@home.test", "säm@home.test", "a@b.test,c@d.test"],
)  # fmt: skip
def test_what_is_no_address_is_refused_and_not_kept(author: Author, email: str) -> None:
    with pytest.raises(Invalid) as refused:
        requested(author, email=email)
    assert all(problem.pointer == "#/email" for problem in refused.value.problems)
    assert not email or email not in str(refused.value)
    assert db.session.query(PosReceiptMail).count() == 0


def test_nobody_mails_one_receipt_all_day(author: Author, clock: StoppedClock) -> None:
    payment_id = payment(author)
    for _ in range(receipts.MOST_A_DAY):
        requested(author, payment_id)
    with pytest.raises(TooManyRequests):
        requested(author, payment_id)
    clock.move(days=1)
    requested(author, payment_id)


def test_the_activity_log_and_the_timeline_know_no_address(author: Author) -> None:
    payment_id = payment(author)
    requested(author, payment_id)
    entries = db.session.query(AuditEntry).filter_by(action="pos.receipt").all()
    assert len(entries) == 1 and ADDRESS not in f"{entries[0].summary}{entries[0].before}{entries[0].after}"


def test_a_mail_that_was_claimed_is_not_sent_by_another_worker(
    author: Author, work: WorkContext, post: Post, clock: StoppedClock
) -> None:
    mail_id = requested(author)
    with transaction():
        assert leases.claim(receipts.RECEIPT_MAIL, clock, PosReceiptMail.id == mail_id)
    assert not receipts.send_mail(work, post, mail_id) and post.sent == []
    clock.move(seconds=timedelta(minutes=2).total_seconds())
    assert receipts.send_mail(work, post, mail_id) and len(post.sent) == 1

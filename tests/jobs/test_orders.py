"""Mails about orders, as a worker sends them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app import ports
from app.domain.orders.lifecycle import cancel
from app.domain.orders.models import OrderMail
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.work.mailing import Mail, NoMailer
from app.extensions import db
from app.jobs import orders
from app.ports import EXTENSION
from app.transaction import transaction
from tests.factories import WHEN, make_agent, make_location, make_order, make_site, make_transaction, make_user

pytestmark = pytest.mark.usefixtures("context")


class Post(NoMailer):
    """Takes mails."""

    reaches_people = True

    def __init__(self) -> None:
        self.sent: list[Mail] = []

    def send(self, mail: Mail) -> None:
        self.sent.append(mail)


@pytest.mark.parametrize(
    ("status", "refunded", "words"),
    [
        ("REFUNDED", 2_500, "You owe nothing, and what you paid was given back."),
        ("PARTIALLY_REFUNDED", 1_000, "part of what you paid was given back: ask us about the rest."),
        ("SUCCEEDED", 0, "You owe nothing; ask us about what you paid."),
    ],
)
def test_a_mail_about_a_cancelled_order_says_what_became_of_the_money(
    app: Flask, status: str, refunded: int, words: str
) -> None:
    post = Post()
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], mailer=post)
    with transaction():
        site = make_site()
        order = make_order(site, paid_amount=2_500, paid_at=WHEN)
        agent = make_agent(site, make_user(site, Role.POS_AGENT), location := make_location(site))
        paid = {"amount_in_pence": 2_500, "order_id": order.id, "refunded_amount": refunded}
        make_transaction(agent, location, status, **paid)
        cancel(Author(site.id, "Ben", ports.clock()), order.id, by_email=True)
    assert orders.send_mail(db.session.query(OrderMail).one().id)
    [mail] = post.sent
    assert words in mail.text

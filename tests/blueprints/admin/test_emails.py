"""The emails about orders, as the owner looks at them before customers do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask

from app.domain.catalogue.models import ProductImage
from app.domain.orders.mail_contents import OrderMailKind
from app.domain.orders.mails import mail_settings
from app.domain.orders.models import Order
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Domain, Site
from app.domain.work.mailing import Mail, MailNotSent, NoMailer
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import make_product
from tests.page_client import PageClient
from tests.statements import statements

PATH = "/admin/settings/emails"


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    page = signed_in(Role.ADMIN)
    page.get(PATH)
    return page


def text(ada: PageClient, path: str) -> str:
    return ada.client.get(path, base_url=ada.base).text


@pytest.mark.parametrize("kind", OrderMailKind)
def test_each_email_is_shown_as_text_and_in_a_frame_of_its_own(
    app: Flask, ada: PageClient, site_id: int, kind: OrderMailKind
) -> None:
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, site_id), "KETTLE", name="Copper kettle")
    ada.get(f"{PATH}?show={kind}")
    page = text(ada, f"{PATH}?show={kind}")
    assert "Copper kettle" in page and "1024" in page and f'src="{PATH}/{kind}/preview"' in page
    answer = ada.client.get(f"{PATH}/{kind}/preview", base_url=ada.base)
    assert "Copper kettle" in answer.text and answer.text.startswith("<!doctype html>")
    policy = answer.headers["Content-Security-Policy"]
    assert "sandbox" in policy and "script-src" not in policy and "default-src 'none'" in policy
    with app.app_context():
        assert db.session.query(Order).count() == 0


def test_products_with_photographs_are_shown_first(app: Flask, ada: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        for sku in ("PAN", "POT", "BOWL", "JUG"):
            product = make_product(site, sku, name=f"Tin {sku.lower()}")
            for position in range(2 if sku in ("BOWL", "JUG") else 0):
                size = {"position": position, "width": 800, "height": 800}
                image = ProductImage(site_id=site_id, product_id=product.id, file=f"{sku}{position}.webp", **size)
                db.session.add(image)
    page = text(ada, PATH)
    assert "2 × Tin bowl" in page and "1 × Tin jug" in page and "Tin pan" not in page


def test_a_product_without_a_photograph_stands_in_and_the_catalogue_is_not_sorted(
    app: Flask, ada: PageClient, site_id: int
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_product(site, "PAN", name="Tin pan")
        bowl = make_product(site, "BOWL", name="Tin bowl")
        db.session.add(ProductImage(site_id=site_id, product_id=bowl.id, file="b.webp", width=800, height=800))
    with statements(app) as seen:
        page = text(ada, PATH)
    assert "2 × Tin bowl" in page and "1 × Tin pan" in page
    found = [statement for statement in seen if "LIMIT" in statement and "products.price >" in statement]
    assert len(found) == 3
    with app.app_context():
        if db.engine.dialect.name != "sqlite":
            return  # PostgreSQL reads a table this small from end to end.
        connection = db.session.connection()
        for statement in found:
            plan = connection.exec_driver_sql(f"explain query plan {statement}", (1,) * statement.count("?")).all()
            assert not any("TEMP B-TREE" in step[-1] for step in plan), plan


def test_a_shop_without_products_shows_made_up_ones(ada: PageClient) -> None:
    assert "2 × Kettle" in text(ada, PATH)


def test_an_unknown_email_is_not_found(ada: PageClient) -> None:
    for path in (f"{PATH}?show=none", f"{PATH}/none/preview"):
        assert ada.client.get(path, base_url=ada.base).status_code == 404


def test_which_emails_are_sent_is_saved_and_recorded(app: Flask, ada: PageClient, site_id: int) -> None:
    ada.post(PATH, {"refunded": "on"})
    with app.app_context():
        assert (mail_settings(site_id).collected, mail_settings(site_id).refunded) == (False, True)
        [entry] = db.session.query(AuditEntry)
        assert entry.summary == "Changed the email about a collected order"
    ada.get(PATH)
    ada.post(PATH, {"refunded": "on"})
    with app.app_context():
        assert db.session.query(AuditEntry).count() == 1


class Post(NoMailer):
    """Takes mails, or none of them."""

    reaches_people = True

    def __init__(self, refuses: bool = False) -> None:
        self.sent: list[Mail] = []
        self.refuses = refuses

    def send(self, mail: Mail) -> None:
        if self.refuses:
            raise MailNotSent("The mail server is away.")
        self.sent.append(mail)


@pytest.fixture
def post(app: Flask) -> Iterator[Post]:
    real, post = app.extensions[EXTENSION], Post()
    app.extensions[EXTENSION] = replace(real, mailer=post)
    yield post
    app.extensions[EXTENSION] = real


def test_a_test_goes_to_who_requests_it(app: Flask, ada: PageClient, post: Post) -> None:
    ada.post(f"{PATH}/ready/test", {})
    [mail] = post.sent
    assert "Order 1024 is ready to collect" in mail.subject
    assert f"Sent to {mail.to}." in text(ada, f"{PATH}?show=ready")
    with app.app_context():
        [entry] = db.session.query(AuditEntry)
        assert entry.summary == "Sent themselves a test of the email “ready”"


def test_a_test_of_a_shop_that_is_tried_leads_to_where_it_is_served(
    app: Flask, ada: PageClient, site_id: int, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(app.config, "LOCAL_ADDRESS", "http://localhost:8000")
    with app.app_context(), transaction():
        db.session.query(Domain).filter_by(site_id=site_id).update({"primary": False})
        domain = db.session.query(Domain).filter_by(host="localhost").one_or_none()
        domain = domain or Domain(host="localhost")
        domain.site_id, domain.primary = site_id, True
        db.session.add(domain)
    ada.post(f"{PATH}/ready/test", {})
    [mail] = post.sent
    assert "http://localhost:8000/orders/find" in mail.html and "https://localhost" not in mail.html + mail.text


def test_a_test_that_cannot_be_sent_says_why(ada: PageClient, post: Post) -> None:
    post.refuses = True
    ada.post(f"{PATH}/ready/test", {})
    assert "The test was not sent. The mail server is away." in text(ada, PATH)


def test_without_a_mail_server_the_page_and_the_test_say_so(ada: PageClient) -> None:
    assert "No mail server is set up, so customers get no email" in text(ada, PATH)
    ada.post(f"{PATH}/ready/test", {})
    assert "Written as a file: no mail server is set up." in text(ada, PATH)

"""Receipts at a till: the link and its QR code, and by email."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.domain.pos.models import PosReceiptMail
from app.extensions import db
from tests.blueprints.v1.pos.conftest import ELSEWHERE, OTHER_AGENT, TillClient, Tills
from tests.fakes.payment_processor import FakeProcessor


@pytest.fixture
def sale(agent: TillClient, processor: FakeProcessor) -> str:
    """The id of a payment that was made."""
    intent_id = agent.began()
    processor.tap(intent_id)
    answer = agent.capture(intent_id)
    assert answer.status_code == 200
    return str(answer.json["transactionId"])


def mails(app: Flask) -> list[tuple[str | None, str]]:
    with app.app_context():
        return [(mail.email, mail.link) for mail in db.session.query(PosReceiptMail)]


def test_a_receipt_is_mailed_in_the_background(app: Flask, agent: TillClient, sale: str) -> None:
    answer = agent.call("POST", f"transactions/{sale}/receipt", {"email": "sam@home.test"})
    assert answer.status_code == 202 and answer.json["transactionId"] == sale
    assert mails(app) == [("sam@home.test", answer.json["url"])]


def test_the_link_opens_the_receipt(app: Flask, agent: TillClient, sale: str) -> None:
    shown = agent.call("GET", f"transactions/{sale}/receipt")
    assert shown.status_code == 200 and shown.json["qrSvg"].startswith("<svg")
    path = "/" + shown.json["url"].split("/", 3)[3]
    page = app.test_client().get(path, base_url="http://localhost")
    assert page.status_code == 200 and "£12.50" in page.text


def test_a_till_prints_what_the_receipt_of_a_card_payment_says(agent: TillClient, sale: str) -> None:
    content = agent.call("GET", f"transactions/{sale}/receipt").json["receipt"]
    assert (content["tender"], content["paid"], content["tip"], content["currency"]) == ("CARD", 1250, 0, "gbp")
    assert content["handedOver"] is content["change"] is content["rounding"] is None
    assert {"label": "Card", "value": "Visa •••• 4242"} in content["card"]
    labels = [field["label"] for field in content["card"]]
    assert "AID" in labels and "Verified by" not in labels, "nobody had to do more than hold the card to the reader"
    assert content["lines"] == content["otherPayments"] == content["refunds"] == []


def test_a_till_prints_what_was_handed_over_and_given_back(agent: TillClient, set_agent: Callable[..., None]) -> None:
    set_agent(can_refund=True)
    paid = agent.call("POST", "cashPayments", {"amountInPence": 430, "tenderedInPence": 500}).json["id"]
    agent.call("POST", f"transactions/{paid}/refunds", {"amountInPence": 100, "reason": "Chipped"})
    content = agent.call("GET", f"transactions/{paid}/receipt").json["receipt"]
    assert (content["tender"], content["handedOver"], content["change"], content["card"]) == ("CASH", 500, 70, [])
    assert [(refund["tender"], refund["amount"]) for refund in content["refunds"]] == [("CASH", 100)]
    assert content["refunds"][0]["rounding"] == 0 and content["paidAt"].endswith("Z")


@pytest.mark.parametrize(
    "body",
    [{}, {"email": ""}, {"email": 7}, {"email": "sam"}, {"email": "4242424242424242@home.test"}, {"to": "a@b.c"}],
)
def test_what_is_no_address_is_a_bad_request(app: Flask, agent: TillClient, sale: str, body: dict[str, object]) -> None:
    answer = agent.call("POST", f"transactions/{sale}/receipt", body)
    assert answer.status_code == 400 and "4242424242424242" not in answer.text
    assert mails(app) == []


def test_there_is_none_before_the_payment_or_for_another_shops(agent: TillClient, sale: str) -> None:
    waiting = agent.create().json["transactionId"]
    for one in (waiting, "nothing"):
        assert agent.call("GET", f"transactions/{one}/receipt").status_code == 404
        assert agent.call("POST", f"transactions/{one}/receipt", {"email": "a@b.test"}).status_code == 404
    agent.location = ELSEWHERE
    assert agent.call("POST", f"transactions/{sale}/receipt", {"email": "a@b.test"}).status_code == 404


def test_a_colleague_at_the_same_location_may_send_it(app: Flask, till: Tills, sale: str) -> None:
    colleague = till(OTHER_AGENT)
    assert colleague.call("POST", f"transactions/{sale}/receipt", {"email": "sam@home.test"}).status_code == 202


def test_a_receipt_is_sent_ten_times_a_day_at_most(agent: TillClient, sale: str) -> None:
    answers = [agent.call("POST", f"transactions/{sale}/receipt", {"email": "sam@home.test"}) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [202] * 10 + [429]
    assert "Retry-After" in answers[-1].headers


def test_one_recipient_gets_ten_receipts_an_hour_at_most(
    app: Flask, agent: TillClient, processor: FakeProcessor
) -> None:
    answers = []
    for number in range(11):
        intent_id = agent.began()
        processor.tap(intent_id)
        sale = agent.capture(intent_id).json["transactionId"]
        answers.append(agent.call("POST", f"transactions/{sale}/receipt", {"email": f"Sam+{number}@home.test"}))
    assert [answer.status_code for answer in answers] == [202] * 10 + [429]
    assert answers[-1].headers["Retry-After"] == "3601"
    assert "Nothing was sent" in answers[-1].json["detail"] and len(mails(app)) == 10
    assert agent.call("POST", f"transactions/{sale}/receipt", {"email": "ben@home.test"}).status_code == 202

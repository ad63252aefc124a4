"""A sale at a till: it appears in the admin, its receipt opens, it is refunded, and the table downloads."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

TILL = "/v1/pos/tml_demo_market"
AGENT = {"email": "agent@demo.test", "password": "demo-password-1", "audience": "pos"}
SECONDS_UNTIL_MAILED = 60


def sell(page: Page, amount: int) -> str:
    """Take a payment as the agent's app does; returns the transaction's id."""
    request = page.request
    token = request.post("/v1/auth/login", data=AGENT).json()["token"]
    agent = {"Authorization": f"Bearer {token}"}
    intent = request.post(f"{TILL}/paymentIntents", headers=agent, data={"amountInPence": amount}).json()
    reader = {"Authorization": f"Bearer {request.get(f'{TILL}/paymentToken', headers=agent).json()['token']}"}
    card = {"clientSecret": intent["clientSecret"], "card": "visa"}
    assert request.post(f"/v1/pos/simulator/paymentIntents/{intent['id']}/present", headers=reader, data=card).ok
    captured = request.post(f"{TILL}/paymentIntents/{intent['id']}/capture", headers=agent)
    assert captured.json()["status"] == "succeeded", captured.text()
    return str(intent["transactionId"])


def gross_of_today(page: Page) -> int:
    """The pence of all sales today, which the overview shows: the demo shop and other tests sell as well."""
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="Mobile POS").click()
    figure = page.locator(".stat").filter(has=page.get_by_role("term").filter(has_text="Gross"))
    return int(re.sub(r"\D", "", figure.get_by_role("definition").first.inner_text()))


def test_a_sale_is_seen_mailed_and_refunded(shop: RunningShop, page: Page, tmp_path: Path) -> None:
    sign_in(page, "admin@demo.test")
    before = gross_of_today(page)
    sold = sell(page, 12_34)
    assert gross_of_today(page) == before + 12_34

    page.get_by_role("navigation", name="Mobile POS").get_by_role("link", name="Transactions").click()
    page.get_by_label("Find").fill(sold)
    expect(page.locator("#results tbody tr")).to_have_count(1)
    expect(page.locator("#results")).to_contain_text("Paid")
    with page.expect_download() as started:
        page.get_by_role("link", name="CSV").click()
    started.value.save_as(table := tmp_path / "transactions.csv")
    [row] = csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines())
    assert (row["Transaction"], row["Net"], row["Last 4"]) == (sold, "12.34", "•••• 4242")

    page.locator("#results tbody a").first.click()
    page.get_by_label("Email address").fill("sam@home.test")
    page.get_by_role("button", name="Send receipt").click()
    expect(page.locator("#flashes")).to_contain_text("on its way")
    expect(page.locator("#mails")).to_contain_text("Sent", timeout=SECONDS_UNTIL_MAILED * 1_000)

    page.get_by_role("button", name="Refund…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Amount").fill("99")
    dialog.get_by_label("Reason").fill("One mug was broken")
    dialog.get_by_role("button", name="Refund").click()
    expect(dialog.get_by_label("Amount")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#refund:modal")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Refund…")).to_be_focused()
    page.keyboard.press("Enter")
    dialog.get_by_label("Amount").fill("2.34")
    dialog.get_by_role("button", name="Refund").click()
    expect(page.locator("#flashes")).to_contain_text("£2.34 goes back to the card")
    expect(page.locator("#timeline")).to_contain_text("One mug was broken")

    with page.expect_popup() as opened:
        page.get_by_role("link", name="open the receipt", exact=True).click()
    receipt = opened.value
    expect(receipt.get_by_role("heading", name="Receipt")).to_be_visible()
    expect(receipt.locator("article")).to_contain_text(re.compile(r"Refunded.*£2\.34.*£10\.00", re.DOTALL))
    assert "sam@home.test" not in receipt.content() and "One mug" not in receipt.content()

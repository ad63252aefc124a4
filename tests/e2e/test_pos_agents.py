"""A user becomes an agent in the admin, signs in over the API, and is out the moment they are disabled."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in

MERLE = {"email": "merch@demo.test", "password": "demo-password-1", "audience": "pos", "deviceName": "Merle’s phone"}


def test_an_agent_is_enabled_signs_in_and_is_out_once_disabled(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.get_by_role("link", name="Mobile POS").click()
    page.get_by_role("link", name="Settings").last.click()
    page.get_by_role("link", name="Add a location").click()
    page.get_by_label("Name").fill("Harbour fair")
    page.get_by_label("Town").fill("Leith")
    page.get_by_label("Id at the processor").fill("tml_harbour")
    page.get_by_role("button", name="Add location").click()
    expect(page.locator("#locations")).to_contain_text("Harbour fair")

    page.goto("/admin/pos/agents")
    page.get_by_role("link", name="Add an agent").first.click()
    page.get_by_label("Merle Merchandiser").check()
    page.get_by_label("Largest payment").fill("50")
    page.get_by_label("Harbour fair").check()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Merle Merchandiser")
    here = page.url

    signed_in = page.request.post("/v1/auth/login", data=MERLE)
    assert signed_in.status == 200, signed_in.text()
    assert signed_in.json()["agent"]["maxTransactionAmount"] == 5_000
    assert [place["id"] for place in signed_in.json()["locations"]] == ["tml_harbour"]
    bearer = {"Authorization": f"Bearer {signed_in.json()['token']}"}
    me = page.request.get("/v1/pos/agents/me", headers=bearer)
    assert (me.status, me.json()["effectiveMaxAmount"]) == (200, 5_000)

    page.goto(here)
    expect(page.locator("#open")).to_contain_text("Merle’s phone")
    page.get_by_role("button", name="Disable", exact=True).click()
    page.get_by_role("button", name="Disable agent").click()
    expect(page.locator("#sessions")).to_contain_text("Agent disabled")
    refused = page.request.get("/v1/pos/agents/me", headers=bearer)
    assert (refused.status, refused.json()["code"]) == (401, "session_revoked")

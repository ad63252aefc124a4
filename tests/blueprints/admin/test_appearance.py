"""The appearance of the shop: saved, refused, arranged, previewed and undone."""

from __future__ import annotations

import io

import pytest
from flask import Flask
from PIL import Image
from sqlalchemy import select

from app.domain.appearance.appearances import appearance_of
from app.domain.appearance.declaration import Appearance, Corners
from app.domain.appearance.sections import DEFAULT_SECTIONS, SectionKind
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from tests.page_client import PageClient

PATH = "/admin/settings/appearance"


@pytest.fixture
def browser(signed_in) -> PageClient:
    page: PageClient = signed_in(Role.ADMIN)
    page.get(PATH)
    return page


def form_of(appearance: Appearance, revision: int = 0, **changes: str) -> dict[str, str]:
    """The form as a browser sends it."""
    values = appearance.as_json()
    sections = values.pop("sections")
    fields = {key: value for key, value in values.items() if isinstance(value, str)}
    for place, section in enumerate(sections):
        fields |= {f"sections/{place}/{key}": text for key, text in section.items() if isinstance(text, str)}
    return fields | {"revision": str(revision), "social": ""} | changes


def stored(app: Flask, site_id: int) -> Appearance:
    with app.app_context():
        return appearance_of(site_id)


def picture(colour: str = "red", size: tuple[int, int] = (600, 200)) -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    out.seek(0)
    return out


def test_what_is_typed_is_saved_tidied_and_noted(app: Flask, browser: PageClient, site_id: int) -> None:
    typed = {"accent": " 1F5C43", "font": "lora", "corners": "round", "heroHeading": " Out  there "}
    more = {"email": "hello@shop.test", "social": "https://www.instagram.com/shop\n"}
    browser.post(PATH, form_of(Appearance(), **typed, **more))
    saved = stored(app, site_id)
    assert (saved.accent, saved.font, saved.corners) == ("#1f5c43", "lora", Corners.ROUND)
    assert (saved.hero_heading, saved.email) == ("Out there", "hello@shop.test")
    assert saved.social_links == [("Instagram", "https://www.instagram.com/shop")]
    assert saved.sections == DEFAULT_SECTIONS
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry)).one()
        assert entry.action == "appearance.save"
        assert entry.before["accent colour"] == "" and entry.after["accent colour"] == "#1f5c43"


def test_saving_what_is_stored_notes_nothing(app: Flask, browser: PageClient) -> None:
    browser.post(PATH, form_of(Appearance()))
    with app.app_context():
        assert db.session.scalars(select(AuditEntry)).all() == []


def test_every_problem_is_named_at_its_field_and_nothing_is_saved(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    wrong = {"accent": "green", "background": "#777777", "heroButton": "Go", "email": "nobody"}
    page = browser.post(PATH, form_of(Appearance(), **wrong, social="javascript:alert(1)"), status=400)
    assert [link["href"] for link in page.all("a") if link.get("href", "").startswith("#f-")] == [
        "#f-accent",
        "#f-social",
        "#f-background",
        "#f-heroLink",
        "#f-email",
    ]
    assert page.value("accent") == "green", "what was typed stays"
    assert stored(app, site_id) == Appearance()


def test_a_rule_of_products_that_is_none_is_refused(app: Flask, browser: PageClient, site_id: int) -> None:
    place = next(at for at, one in enumerate(DEFAULT_SECTIONS) if one.kind is SectionKind.PRODUCTS)
    page = browser.post(PATH, form_of(Appearance(), **{f"sections/{place}/products": "colour:red"}), status=400)
    assert [option["value"] for option in page.all("option") if "selected" in option].count("colour:red") == 1
    assert stored(app, site_id) == Appearance()


def test_a_save_of_an_older_page_is_refused_once_and_then_wins(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PATH, form_of(Appearance(), heroHeading="First"))
    page = browser.post(PATH, form_of(Appearance(), heroHeading="Second"), status=409)
    assert stored(app, site_id).hero_heading == "First"
    browser.post(PATH, form_of(Appearance(), int(page.value("revision")), heroHeading="Second"))
    assert stored(app, site_id).hero_heading == "Second"


def test_sections_are_moved_added_and_removed_without_saving(app: Flask, browser: PageClient, site_id: int) -> None:
    def kinds(act: str, **more: str) -> list[str]:
        page = browser.post(f"{PATH}/arrange", form_of(Appearance(), intent=act, **more), status=200)
        fields = {
            field["name"]: field["value"] for field in page.all("input") if field.get("name", "").endswith("/kind")
        }
        return list(fields.values())

    assert kinds("down:0")[:2] == ["categories", "hero"]
    assert kinds("up:2")[:3] == ["hero", "products", "categories"]
    assert "sale" not in kinds("remove:4")
    assert kinds("add", add="text")[-1] == "text"
    assert kinds("remove:99") == [section.kind for section in DEFAULT_SECTIONS]
    assert stored(app, site_id) == Appearance()


def test_the_saved_order_of_sections_is_the_typed_one(app: Flask, browser: PageClient, site_id: int) -> None:
    form = form_of(Appearance())
    form = {name: text for name, text in form.items() if not name.startswith("sections/")}
    form |= {"sections/0/kind": "products", "sections/0/products": "level:tents", "sections/1/kind": "hero"}
    browser.post(PATH, form)
    first, second = stored(app, site_id).sections
    assert (first.kind, first.rule, first.rule_value) == (SectionKind.PRODUCTS, "level", "tents")
    assert second.kind is SectionKind.HERO


def test_a_chosen_picture_is_kept_and_named_by_the_form(app: Flask, browser: PageClient, site_id: int) -> None:
    page = browser.post(f"{PATH}/arrange", form_of(Appearance()) | {"upload/logo": (picture(), "logo.png")}, status=200)
    named = page.value("logo")
    assert named.endswith(" 600 200")
    browser.post(PATH, form_of(Appearance(), logo=named))
    logo = stored(app, site_id).logo
    assert logo is not None and (logo.width, logo.height) == (600, 200)
    assert browser.client.get(f"/media/{site_id}/{logo.file}").status_code == 200
    cleared = browser.post(f"{PATH}/arrange", form_of(Appearance(), logo=named, intent="clear:logo"), status=200)
    assert cleared.value("logo") == ""


def test_a_picture_that_is_not_stored_is_refused(app: Flask, browser: PageClient, site_id: int) -> None:
    page = browser.post(PATH, form_of(Appearance(), logo=f"{'a' * 32}.webp 600 200"), status=400)
    assert any(link.get("href") == "#f-logo" for link in page.all("a"))
    assert stored(app, site_id).logo is None


def test_a_file_that_is_no_picture_is_refused_at_its_field(browser: PageClient) -> None:
    page = browser.post(
        f"{PATH}/arrange", form_of(Appearance()) | {"upload/logo": (io.BytesIO(b"no"), "logo.png")}, status=200
    )
    assert any(link.get("href") == "#f-logo" for link in page.all("a"))


def test_a_preview_shows_what_is_typed_and_leaves_out_what_is_invalid(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    typed = {"heroHeading": "Only a draft", "accent": "no colour", "background": "#faf0e6"}
    answer = browser.client.post(f"{PATH}/preview", data=form_of(Appearance(), **typed, csrf_token=browser.token))
    assert answer.status_code == 200
    assert "<h1>Only a draft</h1>" in answer.text and "/static/look/theme_faf0e6_theme_theme.css" in answer.text
    assert "<script src" not in answer.text
    assert stored(app, site_id) == Appearance()


def test_the_last_save_is_undone_and_undone_again(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PATH, form_of(Appearance(), heroHeading="First"))
    browser.post(PATH, form_of(Appearance(), 1, heroHeading="Second"))
    browser.post(f"{PATH}/undo", {"revision": "2"})
    assert stored(app, site_id).hero_heading == "First"
    browser.post(f"{PATH}/undo", {"revision": "2"})
    assert stored(app, site_id).hero_heading == "First", "of an older page"
    browser.post(f"{PATH}/undo", {"revision": "3"})
    assert stored(app, site_id).hero_heading == "Second"


def test_the_message_and_the_activity_log_offer_the_undo_of_the_last_save(browser: PageClient) -> None:
    def undo_links() -> list[str]:
        links = browser.get("/admin/activity").all("a")
        return [link["aria-label"] for link in links if link.get("href") == PATH and "aria-label" in link]

    assert undo_links() == []
    for revision, heading in enumerate(("First", "Second")):
        browser.post(PATH, form_of(Appearance(), revision, heroHeading=heading))
        forms = [form for form in browser.get(PATH).all("form") if "undo" in form.get("class", "").split()]
        assert [form["action"] for form in forms] == [f"{PATH}/undo"]
    assert undo_links() == ["Undo: Changed the shop’s appearance…"], "only the last one"
    browser.post(f"{PATH}/undo", {"revision": "2"})
    page = browser.client.get(PATH, base_url=browser.base).text
    assert "The last change is undone." in page and 'class="undo"' in page
    assert undo_links() == ["Undo: Undid the last change of the shop’s appearance…"]


def test_the_contrast_of_an_accent_is_shown_with_the_colour_that_it_becomes(browser: PageClient) -> None:
    text = browser.client.get(f"{PATH}/contrast?accent=ffd400&background=").text
    assert "#ffd400 reaches 1.4 : 1 on white" in text
    assert "<li" not in browser.client.get(f"{PATH}/contrast?accent=x").text


def test_a_dark_background_is_refused_while_it_is_typed(browser: PageClient) -> None:
    typed = f"{PATH}/contrast?typed=background"
    text = browser.client.get(f"{typed}&accent=ffd84d&background=3a3a3a").text
    assert "f-accent-error" not in text, "the message of the other field stays"
    assert 'id="f-background-error" role="status" hx-swap-oob="true">Text on #3a3a3a would have a contrast of' in text
    assert "#000000" not in text, "the accent is shown on the background that the shop has"
    text = browser.client.get(f"{typed}&accent=&background=%233a").text
    assert 'id="f-background-error" role="status" hx-swap-oob="true"></p>' in text
    text = browser.client.get(f"{PATH}/contrast?typed=accent&accent=ffd84d&background=3a3a3a").text
    assert "f-background-error" not in text and 'id="f-accent-error"' in text

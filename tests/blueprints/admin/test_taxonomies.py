"""The pages of the taxonomies: list, add, copy, delete, activate, restore."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import event, select

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node, Tree
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, StoredEvent
from app.domain.taxonomy.lifecycle import activate_taxonomy
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.taxonomies import active_id
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.lifecycle_shop import COLOUR, add_classified, level, make_active, make_taxonomy
from tests.factories import WHEN
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, Reading

LIST = "/admin/catalogue/taxonomy"


@pytest.fixture
def admin(signed_in) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def taxonomies(app: Flask, site_id: int) -> None:
    """Camping is active, with three products; Garden is not."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_taxonomy(site, "camping", name="Camping")
        make_taxonomy(site, "garden", level("tents", COLOUR), name="Garden")
        make_active(site, "camping")
        add_classified(site, 3)


def links(page: Reading) -> list[str]:
    return [link["href"] for link in page.all("a") if LIST in link.get("href", "")]


def words(browser: PageClient, path: str) -> str:
    return " ".join(browser.client.get(path, base_url=browser.base).text.split())


def test_the_list_of_a_shop_without_taxonomies_offers_to_begin(signed_in) -> None:
    page = signed_in().get(LIST)
    assert f"{LIST}/new?start=sample" in links(page)
    assert f"{LIST}/new" in links(page)


@pytest.mark.usefixtures("taxonomies")
def test_an_admin_may_activate_and_delete_whatever_is_not_active(admin: PageClient) -> None:
    found = links(admin.get(LIST))
    assert f"{LIST}/garden/activation" in found
    assert f"{LIST}/garden/removal" in found
    assert f"{LIST}/camping/activation" not in found
    assert f"{LIST}/camping/removal" not in found
    assert f"{LIST}/camping/restore" in found


@pytest.mark.usefixtures("taxonomies")
def test_a_merchandiser_is_not_offered_what_only_an_admin_may(signed_in) -> None:
    browser = signed_in()
    found = links(browser.get(LIST))
    assert f"{LIST}/garden/copy" in found
    assert f"{LIST}/garden/activation" not in found
    assert f"{LIST}/garden/removal" not in found
    browser.get(f"{LIST}/garden/activation", status=403)
    browser.post(f"{LIST}/garden/removal", {}, status=403)


@pytest.mark.usefixtures("taxonomies")
def test_the_list_says_when_nothing_is_active_when_it_is_lost_and_when_the_plan_lacks_the_engine(
    app: Flask, admin: PageClient, site_id: int
) -> None:
    with app.app_context(), transaction():
        make_active(db.session.get_one(Site, site_id), "gone")
    assert "“gone”, does not exist any more" in words(admin, LIST)
    with app.app_context(), transaction():
        db.session.get_one(Site, site_id).capabilities = []
    assert "does not include the taxonomy engine" in words(admin, LIST)
    assert f"{LIST}/garden/activation" not in links(admin.get(LIST))


@pytest.mark.usefixtures("taxonomies")
def test_more_taxonomies_take_no_more_queries(app: Flask, signed_in, site_id: int) -> None:
    browser = signed_in()
    few = queries(app, browser)
    with app.app_context(), transaction():
        for number in range(10):
            make_taxonomy(db.session.get_one(Site, site_id), f"t{number}")
    assert queries(app, browser) <= few


def queries(app: Flask, browser: PageClient) -> int:
    statements = []

    def note(*arguments: object) -> None:
        statements.append(arguments[2])

    with app.app_context():
        engine = db.engine
    browser.get(LIST)
    event.listen(engine, "before_cursor_execute", note)
    try:
        browser.get(LIST)
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return len(statements)


@pytest.mark.parametrize(("start", "levels"), [("blank", 0), ("sample", 2)])
def test_a_taxonomy_is_added_and_opened(app: Flask, signed_in, site_id: int, start: str, levels: int) -> None:
    browser = signed_in()
    browser.get(f"{LIST}/new?start={start}")
    answer = browser.post(f"{LIST}/new", {"name": "Outdoor shop", "description": "All of it", "start": start})
    assert answer.location == f"{LIST}/outdoor-shop"
    browser.get(answer.location)
    with app.app_context():
        made = db.session.get_one(Taxonomy, (site_id, "outdoor-shop"))
        assert (made.description, len(made.root_levels), made.revision) == ("All of it", levels, 1)


def test_what_was_typed_stays_when_the_name_is_missing(signed_in) -> None:
    browser = signed_in()
    browser.get(f"{LIST}/new")
    page = browser.post(f"{LIST}/new", {"name": " ", "description": "Typed", "start": "sample"}, status=400)
    assert page.texts["textarea"] == "Typed"
    assert [radio["value"] for radio in page.all("input") if "checked" in radio] == ["sample"]
    assert [a["href"] for a in page.all("a") if a.get("href", "").startswith("#f-")] == ["#f-name"]


@pytest.mark.usefixtures("taxonomies")
def test_a_copy_is_made_under_the_name_that_was_typed(app: Flask, signed_in, site_id: int) -> None:
    browser = signed_in()
    assert browser.get(f"{LIST}/camping/copy").value("name") == "Camping (copy)"
    assert browser.post(f"{LIST}/camping/copy", {"name": "Camping 2027"}).location == f"{LIST}/camping-2027"
    browser.post(f"{LIST}/camping/copy", {"name": ""}, status=400)
    with app.app_context():
        assert db.session.get_one(Taxonomy, (site_id, "camping-2027")).root_levels[0]["levelId"] == "tents"


@pytest.mark.usefixtures("taxonomies")
def test_an_equal_name_is_warned_of_and_the_confirmation_tells_which_one_it_is(
    app: Flask, admin: PageClient, site_id: int
) -> None:
    admin.get(f"{LIST}/camping/copy")
    admin.post(f"{LIST}/camping/copy", {"name": "gaRDen"})
    assert "2 taxonomies are called “gaRDen” now (ids garden, garden-2)." in words(admin, LIST)
    admin.get(f"{LIST}/new")
    admin.post(f"{LIST}/new", {"name": "Alone", "description": "", "start": "blank"})
    assert "are called" not in words(admin, LIST)
    assert "To the letter: gaRDen (id garden-2, 1 level)" in words(admin, f"{LIST}/garden-2/activation")
    assert "the id <code>garden-2</code>" in words(admin, f"{LIST}/garden-2/removal")


@pytest.mark.usefixtures("taxonomies")
def test_a_taxonomy_is_deleted_after_a_question_and_the_active_one_is_not(
    app: Flask, admin: PageClient, site_id: int
) -> None:
    admin.get(f"{LIST}/garden/removal")
    assert admin.post(f"{LIST}/garden/removal", {}).location == LIST
    assert "Activate another one first" in words(admin, f"{LIST}/camping/removal")
    admin.post(f"{LIST}/camping/removal", {}, status=409)
    with app.app_context():
        assert db.session.scalars(select(Taxonomy.id)).all() == ["camping"]


def test_the_first_activation_asks_for_no_name(app: Flask, admin: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, site_id), "camping", name="Camping")
    page = admin.get(f"{LIST}/camping/activation")
    assert not [field for field in page.all("input") if field.get("name") == "confirmName"]
    assert admin.post(f"{LIST}/camping/activation", {}).location == LIST
    with app.app_context():
        assert active_id(site_id) == "camping"


@pytest.mark.usefixtures("taxonomies")
def test_a_switch_says_what_it_clears_and_needs_the_name_to_the_letter(
    app: Flask, admin: PageClient, site_id: int
) -> None:
    page = f"{LIST}/garden/activation"
    assert "<strong>3 products</strong> lose their level" in words(admin, page)
    admin.get(page)
    refused = admin.post(page, {"confirmName": "garden "}, status=400)
    assert refused.value("confirmName") == "garden "
    for sent in ({}, {"confirmName": ""}, {"confirmName": ["Gard", "Garden"]}):
        admin.post(page, sent, status=400)
    with app.app_context():
        assert active_id(site_id) == "camping"
    assert admin.post(page, {"confirmName": "Garden"}).location == LIST
    with app.app_context():
        assert active_id(site_id) == "garden"
        assert db.session.scalars(select(StoredEvent.name)).all() == ["ActiveTaxonomyChangedEvent"]
        assert set(db.session.scalars(select(Product.taxonomy_level_id))) == {None}
    assert "There is nothing to do" in words(admin, page)


@pytest.mark.usefixtures("taxonomies")
def test_a_switch_names_the_categories_that_it_empties(app: Flask, admin: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        tree = Tree(site_id=site_id, name="Shop", primary=True, updated_at=WHEN)
        db.session.add(tree)
        db.session.flush()
        for number in range(12):
            add_category(tree, f"By level {number:02}", source_levels=["tents"])
        add_category(tree, "By hand")
        add_category(tree, "A hidden one", source_levels=["tents"], visible=False)
    text = words(admin, f"{LIST}/garden/activation")
    assert "<strong>13 categories</strong> choose products by level; they will be empty" in text
    assert "/c/by-level-00" in text and "By level 08" in text and "By level 09" not in text and "and 3 more" in text
    assert "A hidden one" in text and "/c/a-hidden-one" not in text and "By hand" not in text


def add_category(tree: Tree, name: str, **more: object) -> None:
    slug = name.lower().replace(" ", "-")
    fields = {"tree_id": tree.id, "name": name, "slug": slug, "path": slug, "updated_at": WHEN} | more
    db.session.add(Node(site_id=tree.site_id, **fields))


@pytest.mark.usefixtures("taxonomies")
def test_after_a_switch_list_and_editor_prompt_to_restore_what_fits(
    app: Flask, admin: PageClient, site_id: int, clock: StoppedClock
) -> None:
    prompt = "Restore what fits: 3 products"
    assert prompt not in words(admin, LIST)
    with app.app_context(), transaction():
        activate_taxonomy(Author(site_id, "Mia", clock), "garden", "Garden")
    assert prompt in words(admin, LIST) and prompt in words(admin, f"{LIST}/garden")
    assert prompt not in words(admin, f"{LIST}/camping"), "it is not the active one"
    admin.get(f"{LIST}/garden/restore")
    admin.post(f"{LIST}/garden/restore", {})
    assert prompt not in words(admin, LIST), "it is asked for already"


@pytest.mark.usefixtures("taxonomies")
def test_nothing_is_prompted_where_no_archived_level_fits(
    app: Flask, admin: PageClient, site_id: int, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, site_id), "bikes", level("bikes"))
        activate_taxonomy(Author(site_id, "Mia", clock), "bikes", "Bikes")
    assert "Restore what fits" not in words(admin, LIST)


@pytest.mark.usefixtures("taxonomies")
def test_a_plan_without_the_engine_activates_nothing(app: Flask, admin: PageClient, site_id: int) -> None:
    admin.get(f"{LIST}/garden/activation")
    with app.app_context(), transaction():
        db.session.get_one(Site, site_id).capabilities = []
    assert "so no taxonomy can be activated" in words(admin, f"{LIST}/garden/activation")
    admin.post(f"{LIST}/garden/activation", {"confirmName": "Garden"}, status=403)
    with app.app_context():
        assert active_id(site_id) == "camping"


@pytest.mark.usefixtures("taxonomies")
def test_archived_classifications_are_restored_after_a_dry_run(
    app: Flask, signed_in, site_id: int, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        activate_taxonomy(Author(site_id, "Mia", clock), "garden", "Garden")
    browser = signed_in()
    page = f"{LIST}/garden/restore"
    at_once = browser.get(page)
    asking = [found["hx-get"] for found in at_once.all("div") if found.get("hx-trigger") == "load"]
    plain = [found["href"] for found in at_once.all("a") if "dry-run" in found["href"]]
    assert asking == plain == [f"{page}?dry-run=1"]
    assert "What would happen" not in words(browser, page), "it takes long for a large archive"
    fragment = browser.client.get(asking[0], base_url=browser.base, headers={"HX-Request": "true"}).text
    text = words(browser, asking[0])
    assert "What would happen" in fragment and "<html" not in fragment and "<html" in text
    assert "<strong>3 products</strong> get their level and values back" in text
    assert "3 products of these have values that do not fit any more" in text
    browser.get(page)
    assert browser.post(page, {}).location == page
    with app.app_context():
        assert db.session.scalars(select(TaxonomyTask.kind)).all() == ["RESTORE"]
    assert "dry-run" not in words(browser, page), "while it goes on there is nothing to ask for"
    assert "What would happen" not in words(browser, asking[0])


@pytest.mark.usefixtures("taxonomies")
def test_nothing_is_restored_into_a_taxonomy_that_is_not_active(app: Flask, signed_in) -> None:
    browser = signed_in()
    browser.get(f"{LIST}/camping/restore")
    browser.get(f"{LIST}/garden/restore", status=409)
    browser.post(f"{LIST}/garden/restore", {}, status=409)
    with app.app_context():
        assert db.session.scalars(select(TaxonomyTask)).all() == []


@pytest.mark.usefixtures("taxonomies")
def test_names_are_shown_as_text(app: Flask, admin: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, site_id), "x", name="<b>x</b>")
    for page in ("", "/x/copy", "/x/removal", "/x/activation"):
        assert "<b>x" not in words(admin, LIST + page)

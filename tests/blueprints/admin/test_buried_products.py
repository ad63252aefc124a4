"""Products that a category buries: from the grid and the list, undone, saved, and seen last by shoppers."""

from __future__ import annotations

import re

from flask import Flask
from sqlalchemy import select

from app.domain.merchandising.membership import buried_in
from app.domain.merchandising.models import Burial, Node
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests import searching
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.blueprints.admin.test_merchandising_category import form, ids, order, page
from tests.blueprints.admin.test_product_grid import MARGIN, mia, pinned, rows, sent, shop_page, tents
from tests.factories import make_product, make_site

__all__ = ["ids", "mia", "tents"]


def buried(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'name="buried" value="(\d+)"', html)]


def stored(app: Flask, category_id: int) -> list[int]:
    with app.app_context():
        return buried_in([category_id]).get(category_id, [])


def test_a_product_of_the_rule_is_buried_in_the_grid_and_saved(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    html = mia.swap(page(ids["camping"]), sent([], f"bury:{tents[1]}")).text
    assert (pinned(html), buried(html), "Tent 2 is buried." in html) == ([], [tents[1]], True)
    assert rows(html) == [tents[0], *tents[2:25]]
    assert MARGIN.findall(html)[:2] == ["+1", "+1"] and MARGIN.findall(html)[-1] == "−28"
    assert "Place 30" in html and 'aria-label="Stop burying Tent 2"' in html
    assert stored(app, ids["camping"]) == []
    assert "Saved." in mia.swap(page(ids["camping"]), sent([], "", buried=tents[1])).text
    assert (stored(app, ids["camping"]), order(app, mia.site_id, ids["camping"])) == ([tents[1]], [])
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "category.save")).one()
    assert (entry.before["buried"], entry.after["buried"]) == ([], [tents[1]])


def test_what_is_placed_by_hand_stays_in_the_category_and_comes_back_behind_the_others(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    here = page(ids["gifts"])
    gift = form(name="Gifts", seoName="gifts", layout="grid")
    html = mia.swap(here, gift | {"product": tents[:3], "intent": f"bury:{tents[0]}"}).text
    assert (rows(html), buried(html)) == (tents[1:3], [tents[0]])
    assert sorted(pinned(html)) == tents[:3]
    mia.swap(here, gift | {"product": pinned(html), "buried": buried(html)})
    assert order(app, mia.site_id, ids["gifts"]) == [tents[1], tents[2], tents[0]]
    shown = mia.fragment(here + "?show=grid").text
    assert (rows(shown), buried(shown)) == (tents[1:3], [tents[0]])
    back = mia.swap(here, gift | {"product": pinned(shown), "buried": tents[0], "intent": f"unbury:{tents[0]}"}).text
    assert (rows(back), buried(back)) == ([tents[1], tents[2], tents[0]], [])
    again = mia.swap(here, gift | {"product": pinned(shown), "buried": tents[0], "revision": "2"}).text
    assert "No changes to save." in again


def test_what_is_moved_or_added_is_no_longer_buried(mia: Merchandiser, ids: dict[str, int], tents: list[int]) -> None:
    for intent in (f"top:{tents[4]}", f"end:{tents[4]}", f"place:1:{tents[4]}", f"add:{tents[4]}"):
        html = mia.swap(page(ids["camping"]), sent(tents[:1], intent, buried=[tents[4], tents[5]])).text
        assert (buried(html), sorted(pinned(html))) == ([tents[5]], [tents[0], tents[4]]), intent
    gone = mia.swap(page(ids["camping"]), sent(tents[:2], f"remove:{tents[1]}", buried=[tents[1]])).text
    assert (buried(gone), pinned(gone)) == ([], tents[:1])


def test_the_last_step_is_undone(mia: Merchandiser, ids: dict[str, int], tents: list[int]) -> None:
    here = page(ids["camping"])
    html = mia.swap(here, sent(tents[:2], f"bury:{tents[0]}", buried=tents[7])).text
    assert buried(html) == [tents[7], tents[0]]
    before = {
        name: re.findall(rf'name="{name}" value="([^"]*)"', html)[0] for name in ("productsBefore", "buriedBefore")
    }
    undone = mia.swap(here, sent(pinned(html), "undo", buried=buried(html)) | before).text
    assert (rows(undone)[:2], pinned(undone), buried(undone)) == (tents[:2], tents[:2], [tents[7]])
    assert "undo-products" not in undone


def test_the_list_has_them_too_and_collections_have_none(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    html = mia.swap(page(ids["camping"]), sent(tents[:2], f"bury:{tents[0]}", layout="list")).text
    assert (rows(html), buried(html)) == ([tents[1]], [tents[0]])
    assert "1 placed by hand, 28 by the rule, 1 buried" in html and f'value="unbury:{tents[0]}"' in html
    for layout in ("grid", "list"):
        assert "ury" not in mia.swap("/admin/catalogue/collection/new", sent(tents[:2], f"show:{layout}")).text


def test_one_that_left_the_category_is_named_and_one_that_is_hidden_has_no_place(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        left = make_product(site, name="Mug").id
        hidden = make_product(site, name="Old tent", taxonomy_level_id="tents", enabled=False).id
    html = mia.swap(page(ids["camping"]), sent([], "more", buried=[left, hidden])).text
    assert html.count("Not in the category now") == 1 and buried(html) == [left, hidden]
    assert "Place 31" not in html


def test_what_cannot_be_is_refused(app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]) -> None:
    with app.app_context(), transaction():
        other = make_product(make_site("other.test"), name="Theirs").id
        many = [make_product(db.session.get_one(Site, mia.site_id)).id for _ in range(501)]
    for wrong, says in (([other], "no longer on this site"), (many, "buries at most 500 products")):
        refused = mia.swap(page(ids["camping"]), sent([], "", buried=wrong))
        assert (refused.status_code, says in refused.text) == (400, True)
    assert stored(app, ids["camping"]) == []
    for odd in ("bury:", "bury:x", "unbury:²", "bury:99999999"):
        assert mia.swap(page(ids["camping"]), sent([], odd, buriedBefore="7 y")).status_code == 200, odd


def test_another_save_meanwhile_shows_what_is_buried(mia: Merchandiser, ids: dict[str, int], tents: list[int]) -> None:
    mia.swap(page(ids["camping"]), sent([], "", buried=tents[:1]))
    late = mia.swap(page(ids["camping"]), sent([], "", buried=tents[1:2]))
    assert late.status_code == 409 and '<th scope="row">Buried</th>' in late.text
    assert buried(late.text) == tents[1:2]


def test_a_buried_product_goes_with_its_record(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    mia.swap(page(ids["tents"]), form(name="Tents", seoName="tents", buried=tents[:2]))
    with app.app_context(), transaction():
        db.session.delete(db.session.get_one(Node, ids["tents"]))
    with app.app_context():
        assert db.session.scalars(select(Burial)).all() == []


def test_shoppers_see_them_last_until_they_choose_an_order(
    app: Flask, indexing: SearchContext, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    with app.app_context():
        assert rebuild(indexing, searching.request(indexing, mia.site_id))
    mia.swap(page(ids["camping"]), sent([tents[3], tents[0]], "", buried=[tents[0], tents[1]]))

    def names(html: str) -> list[str]:
        return list(dict.fromkeys(re.findall(r">(Tent \d+)<", html)))

    shown = names(shop_page(mia.fragment(page(ids["camping"], "?show=shop")).text))
    assert shown[0] == "Tent 4" and "Tent 1" not in shown[:20] and "Tent 2" not in shown[:20]
    client = app.test_client()
    both = [
        names(client.get(f"/c/camping?pageSizeOverride=100{more}", base_url="http://localhost").text)
        for more in ("", "&sort=name")
    ]
    assert both[0][-2:] == ["Tent 1", "Tent 2"] and len(both[0]) == 30
    assert both[1][:2] == ["Tent 1", "Tent 10"]

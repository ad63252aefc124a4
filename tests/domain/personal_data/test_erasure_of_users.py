"""A user of the admin is closed and erased: at the till, in notes, in exports that are kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from app.domain.bundles import runs
from app.domain.bundles.models import BundleRun
from app.domain.bundles.parts import Part
from app.domain.pos.models import PosAgent, PosTransaction
from app.domain.relevance.models import ProductRating
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites import activity
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, User
from app.extensions import db
from app.transaction import transaction
from tests.domain.personal_data.shop_of_sam import Shop, named
from tests.factories import (
    WHEN,
    make_device,
    make_golden,
    make_judged_search,
    make_judgement_list,
    make_site,
    make_user,
    make_work_session,
)


def test_a_user_is_closed_and_the_activity_log_keeps_a_number(shop: Shop) -> None:
    with transaction():
        nia = Author(shop.site_id, "Nia Nettle", shop.clock)
        activity.record(nia, "product.save", ("product", "1"), "Saved Mug")
        activity.record(
            shop.author, "user.change", ("user", str(shop.nia)), "Changed Nia N.", {"displayName": "Nia N."}, {}
        )
        activity.record(Author(shop.site_id, "Nia N.", shop.clock), "product.save", ("product", "2"), "Saved Cup")
        make_golden(shop.site(), "SKU-1", updated_by="Nia Nettle")
        judged = make_judged_search(make_judgement_list(shop.site(), updated_by="Nia Nettle"), "mug", {"SKU-1": 3})
        db.session.query(ProductRating).filter_by(search_id=judged.id).update(
            {"rater": "Nia Nettle", "rater_id": shop.nia}
        )
    payment = shop.payment()
    shop.erase("nia@shop.test")
    assert not named("nia@shop", "nia n")
    user, pseudonym = db.session.get_one(User, shop.nia), f"Erased user {shop.nia}"
    assert (user.display_name, user.enabled, user.password_hash, user.grants) == (pseudonym, False, None, [])
    done = {entry.summary: entry.actor for entry in db.session.scalars(select(AuditEntry))}
    assert (done["Saved Mug"], done["Saved Cup"]) == (pseudonym, pseudonym)
    assert done[f"Changed {pseudonym}"] == "Mia Moss"
    rated = db.session.scalars(select(ProductRating)).one()
    assert (rated.rater, rated.rating) == (pseudonym, 3)
    assert db.session.get_one(PosTransaction, payment).agent.display_name == pseudonym


def test_a_name_of_several_users_stays_with_the_others(shop: Shop) -> None:
    with transaction():
        make_user(shop.site(), Role.ADMIN, email="other@shop.test", name="Nia Nettle")
        activity.record(Author(shop.site_id, "Nia Nettle", shop.clock), "x.do", ("x", "1"), "Did")
    person = shop.find("nia@shop.test")
    assert person.account is not None
    assert person.account.shared_names == {"Nia Nettle"}
    shop.erase("nia@shop.test")
    assert db.session.scalars(select(AuditEntry.actor).where(AuditEntry.action == "x.do")).one() == "Nia Nettle"


def test_a_name_of_one_word_stays_in_texts_about_other_things(shop: Shop) -> None:
    with transaction():
        make_user(shop.site(), Role.ADMIN, email="rose@shop.test", name="Rose")
        activity.record(Author(shop.site_id, "Rose", shop.clock), "product.save", ("product", "1"), "Saved Rose Teapot")
    shop.erase("rose@shop.test")
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "product.save")).one()
    assert entry.summary == "Saved Rose Teapot"
    assert entry.actor.startswith("Erased user ")


def test_names_in_other_letters_are_found_within_json(shop: Shop) -> None:
    with transaction():
        make_user(shop.site(), Role.ADMIN, email="zoe@shop.test", name="Zoë Öström")
        activity.record(shop.author, "x.do", ("x", "1"), "Did", after={"by": ["Zoë Öström"]})
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


def test_the_devices_of_a_user_go_with_the_user(shop: Shop) -> None:
    with transaction():
        make_device(shop.site(), db.session.get_one(User, shop.nia), name="Nia’s phone", device_id="ios-7")
    shop.erase("nia@shop.test")
    assert not named("Nia’s phone", "ios-7")


def test_one_who_wrote_hundreds_of_notes_is_erased_with_all_of_them(shop: Shop) -> None:
    """SQLite nests a condition a thousand deep at most."""
    with transaction():
        agent = db.session.get_one(PosAgent, shop.agent)
        for day in range(400):
            make_work_session(agent, ended_at=WHEN, closing_note=f"Day {day}, for Tom")
        activity.record(shop.author, "pos_agent.save", ("pos_agent", str(agent.id)), "Said: day 7, for tom")
        activity.record(shop.author, "pos_agent.save", ("pos_agent", str(agent.id)), "Day 1, for Tom. Day 399, for Tom")
    shop.erase("nia@shop.test")
    assert not named("for Tom")


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

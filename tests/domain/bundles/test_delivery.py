"""How a shop delivers, in bundles."""

from __future__ import annotations

from pathlib import Path

from app.domain.delivery.declaration import COLLECTION_ONLY
from app.domain.delivery.deliveries import delivery_of, saved_delivery
from app.domain.sites import sites
from tests.domain.bundles.conftest import HOST, SITE, Take, refusals, write_bundle
from tests.domain.bundles.test_round_trip import assert_comes_back

METHOD = {"name": "Post", "steps": [{"upTo": None, "price": 395}], "countries": ["GB"], "payment": "onDelivery"}


def test_a_delivery_comes_and_goes(take: Take, tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "in", site=SITE, delivery={"methods": [METHOD], "defaultWeight": 800})
    assert take(bundle).counts["delivery"].changed == 1
    saved = delivery_of(sites.site_at(HOST).id)
    assert (saved.methods[0].name, saved.default_weight, saved.collection) == ("Post", 800, True)
    assert take(bundle).counts["delivery"].unchanged == 1
    assert_comes_back(take, tmp_path, HOST, ".zip")


def test_what_the_file_leaves_out_stays_and_a_dry_run_changes_nothing(take: Take) -> None:
    take(site=SITE, delivery={"methods": [METHOD]})
    assert take(delivery={"collection": False}, dry_run=True).counts["delivery"].changed == 1
    take(site=SITE, delivery={"defaultWeight": 900})
    saved = saved_delivery(sites.site_at(HOST).id).value
    assert (len(saved.methods), saved.collection, saved.default_weight) == (1, True, 900)


def test_what_is_wrong_is_named_and_nothing_is_taken(take: Take) -> None:
    wrong = METHOD | {"countries": ["XX"], "steps": [{"upTo": None, "price": -1}]}
    report = take(site=SITE, delivery={"methods": [wrong]})
    found = {(file, field) for file, _, field in refusals(report)}
    assert found == {("delivery.json", "methods/0/steps/0/price"), ("delivery.json", "methods/0/countries")}
    assert delivery_of(sites.site_at(HOST).id) == COLLECTION_ONLY

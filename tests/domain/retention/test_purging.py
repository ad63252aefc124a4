"""No purge removes more at once than it may without a person, whatever the clock says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.causes import Cause
from app.domain.catalogue import product_images
from app.domain.orders.models import Order
from app.domain.orders.purge import RETENTIONS as ORDERS
from app.domain.retention.purging import FEW, most_at_once
from app.domain.search_statistics.counting.purge import RETENTIONS as COUNTS
from app.domain.search_statistics.models import SearchWordDay
from app.domain.sites.models import SignInFailure
from app.domain.sites.purge import RETENTIONS
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_order, make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")
ATTEMPTS = next(one for one in RETENTIONS if one.model is SignInFailure)


@pytest.mark.parametrize(("kept", "most"), [(0, 20), (20, 20), (79, 20), (100, 25), (1_000_000, 250_000)])
def test_a_quarter_may_go_at_once_or_a_few(kept: int, most: int) -> None:
    assert most_at_once(kept) == most


@pytest.fixture
def hundred_attempts(context: None, clock: StoppedClock) -> None:
    """The first the oldest, a minute apart."""
    with transaction():
        start = clock.now()
        db.session.add_all(SignInFailure(key=str(n), at=start + timedelta(minutes=n)) for n in range(100))
    clock.move(minutes=99)


def left() -> int:
    return db.session.scalar(select(func.count()).select_from(SignInFailure)) or 0


def blocked() -> list[str]:
    return [alert.detail for alert in open_alerts(None) if alert.cause == Cause.PURGE_BLOCKED.key]


@pytest.mark.usefixtures("hundred_attempts")
def test_of_many_old_records_the_oldest_quarter_goes_and_the_rest_in_the_next_nights(clock: StoppedClock) -> None:
    clock.move(days=2)
    assert purged(clock, ATTEMPTS) == 25
    assert set(db.session.scalars(select(SignInFailure.key))) == {str(number) for number in range(25, 100)}
    nights = [purged(clock, ATTEMPTS) for _ in range(4)]
    assert nights == [FEW, FEW, FEW, 15] and left() == 0


@pytest.mark.usefixtures("hundred_attempts")
def test_what_is_long_overdue_raises_an_alert_until_it_is_gone(clock: StoppedClock) -> None:
    clock.move(days=30)
    purged(clock, ATTEMPTS)
    assert blocked() == []
    clock.move(days=370)
    purged(clock, ATTEMPTS)
    assert blocked() == ["Of 75 throttled attempts, 75 are old; 20 of them were removed."]
    for _ in range(3):
        purged(clock, ATTEMPTS)
    assert left() == 0 and blocked() == []


@pytest.mark.usefixtures("hundred_attempts")
def test_a_person_may_have_all_of_it_removed(clock: StoppedClock) -> None:
    clock.move(days=400)
    purged(clock, ATTEMPTS)
    assert purged(clock, ATTEMPTS, is_confirmed=True) == 75
    assert left() == 0 and blocked() == []


def test_what_was_dated_while_the_clock_was_far_ahead_goes_once_it_is_right(clock: StoppedClock) -> None:
    with transaction():
        for days in (-3, 0, 1, 3):
            db.session.add(SignInFailure(key=str(days), at=clock.now() + timedelta(days=days)))
    purged(clock, ATTEMPTS)
    assert set(db.session.scalars(select(SignInFailure.key))) == {"0", "1"}


def test_of_records_with_a_key_of_several_columns_the_oldest_go(clock: StoppedClock) -> None:
    with transaction():
        site_id = make_site().id
        today = clock.now().date()
        for ago in range(60, 160):
            day = {"site_id": site_id, "day": today - timedelta(days=ago), "word": "mug"}
            db.session.add(SearchWordDay(**day, searches=1, last_result_count=1))
    assert purged(clock, *COUNTS) == 25
    oldest = db.session.scalar(select(func.min(SearchWordDay.day)))
    assert oldest is not None and (today - oldest).days == 134
    assert purged(clock, *COUNTS, is_confirmed=True) == 45


def test_of_contacts_the_oldest_are_forgotten_and_the_orders_stay(clock: StoppedClock) -> None:
    with transaction():
        site = make_site()
        for number in range(100):
            at = clock.now() - timedelta(days=900 - number)
            make_order(site, submitted_at=at, contact_name=f"shopper {number}")
    assert purged(clock, *ORDERS) == 25
    kept = set(db.session.scalars(select(Order.contact_name).where(Order.contact_name != "")))
    assert kept == {f"shopper {number}" for number in range(25, 100)}
    assert db.session.scalar(select(func.count()).select_from(Order)) == 100


class Files:
    """An image store of files that nothing names."""

    def __init__(self, at: dict[str, float]) -> None:
        self.at = at

    def files(self, _site_id: int) -> list[tuple[str, float]]:
        return list(self.at.items())

    def discard(self, _site_id: int, file: str, written_before: float) -> bool:
        return self.at.pop(file) < written_before

    def clear(self, _site_id: int, written_before: float) -> None: ...


def test_of_many_pictures_that_nothing_names_the_oldest_quarter_goes(clock: StoppedClock) -> None:
    with transaction():
        site_id = make_site().id
    files = Files({f"{age}.webp": clock.now().timestamp() - age * 86_400 for age in range(100)})
    purged_pictures = product_images.discard_unused(clock, files, site_id)  # type: ignore[arg-type]
    assert (purged_pictures.kept, purged_pictures.old, purged_pictures.removed) == (100, 98, 25)
    assert purged_pictures.is_overdue and max(files.at, key=lambda file: -files.at[file]) == "74.webp"
    assert not product_images.discard_unused(clock, files, site_id, is_confirmed=True).is_overdue  # type: ignore[arg-type]
    assert set(files.at) == {"0.webp", "1.webp"}


@pytest.mark.usefixtures("hundred_attempts")
def test_all_of_what_nobody_would_miss_goes_at_once(clock: StoppedClock) -> None:
    clock.move(days=60)
    assert purged(clock, replace(ATTEMPTS, bookkeeping=True)) == 100
    assert left() == 0 and blocked() == []

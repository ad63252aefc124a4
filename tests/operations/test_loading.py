from __future__ import annotations

import gc

import pytest

from app.operations.loading import NEW_OBJECTS, loading_for_good


@pytest.fixture(autouse=True)
def thresholds_of_the_tests():
    given = gc.get_threshold()
    yield
    gc.set_threshold(*given)


def test_what_is_loaded_for_good_is_not_looked_through_again():
    before = gc.get_freeze_count()
    with loading_for_good():
        assert not gc.isenabled()
        loaded = [[] for _ in range(10_000)]
    assert gc.isenabled() and gc.get_freeze_count() >= before + len(loaded)


def test_from_then_on_new_objects_are_collected_more_rarely():
    gc.set_threshold(700, 10, 10)
    with loading_for_good():
        pass
    assert gc.get_threshold() == (NEW_OBJECTS, 10, 10)


def test_what_cannot_be_loaded_leaves_the_collector_at_work():
    with pytest.raises(ValueError, match="no such shop"), loading_for_good():
        raise ValueError("no such shop")
    assert gc.isenabled()

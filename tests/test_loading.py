from __future__ import annotations

import gc

import pytest

from app.loading import loading_for_good


def test_what_is_loaded_for_good_is_not_looked_through_again():
    before = gc.get_freeze_count()
    with loading_for_good():
        assert not gc.isenabled()
        loaded = [[] for _ in range(10_000)]
    assert gc.isenabled() and gc.get_freeze_count() >= before + len(loaded)


def test_what_cannot_be_loaded_leaves_the_collector_at_work():
    with pytest.raises(ValueError, match="no such shop"), loading_for_good():
        raise ValueError("no such shop")
    assert gc.isenabled()

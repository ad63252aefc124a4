"""How much is tried: of a property a quarter of the full number of examples, so that the tests stay quick, and without
the tests that are marked as thorough. All of it where SHOP_TEST_EXAMPLES is `all`, as in the continuous integration."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, settings

ALL = os.environ.get("SHOP_TEST_EXAMPLES") == "all"


def examples(full: int) -> int:
    return full if ALL else max(10, full // 4)


def thorough(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Those that are left out."""
    return set() if ALL else {item for item in items if item.get_closest_marker("thorough")}


# A busy machine is no fault: nothing here is about time.
settings.register_profile(
    "shop", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shop")

"""How often a property is tried: a quarter of the full number, so that the tests stay quick, and all of it where
SHOP_TEST_EXAMPLES is `all`, as in the continuous integration."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

ALL = os.environ.get("SHOP_TEST_EXAMPLES") == "all"


def examples(full: int) -> int:
    return full if ALL else max(10, full // 4)


# A busy machine is no fault: nothing here is about time.
settings.register_profile(
    "shop", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shop")

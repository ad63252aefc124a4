"""The shop in which people are found and erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.domain.personal_data.shop_of_sam import Shop
from tests.fakes.clock import StoppedClock


@pytest.fixture
def shop(context: None, clock: StoppedClock, tmp_path: Path) -> Shop:
    return Shop(clock, tmp_path)

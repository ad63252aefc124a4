from __future__ import annotations

import pytest

from app.transaction import transaction
from tests.factories import make_site


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        return make_site().id

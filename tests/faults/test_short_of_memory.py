"""F05: a builder that gets no more memory."""

from __future__ import annotations

import pytest

from app.domain.search.index import runs
from app.domain.search.index.runs import REBUILD
from app.transaction import transaction
from tests.faults.shops import Shop, check

pytestmark = pytest.mark.fault("F05")


@pytest.mark.parametrize("point", ["start", "added", "publish"])
def test_a_build_without_memory_ends_with_a_reason_and_the_old_index_or_is_done(shop: Shop, point: str) -> None:
    """Where the process is too short of memory to say so itself, it is given up as one that died."""
    before = shop.live
    shop.do("rebuild_without_memory", point).finish()
    with shop.opened(minutes_from_now=1) as indexing, transaction():
        runs.expire_runs(indexing.clock, indexing.engine)
    state, reason = shop.run()
    if state == "failed":
        assert shop.live == before
        assert reason in ("There is not enough memory to build the index.", REBUILD.abandoned)
    else:
        assert (state, reason) == ("done", None) and shop.live != before
    check(shop)

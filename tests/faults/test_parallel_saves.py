"""F30: whoever saves a taxonomy on a revision that is no longer the present one writes nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.domain.sites.models import AuditEntry, Site, StoredEvent
from app.domain.taxonomy.models import Taxonomy, TaxonomyRevision
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_taxonomy
from tests.faults.shops import SITE, Shop
from tests.injected_faults import injected

pytestmark = pytest.mark.fault("F30")


@pytest.fixture
def camping(shop: Shop) -> Shop:
    with shop.opened(), transaction():
        make_taxonomy(db.session.get_one(Site, SITE), [{"name": "Tents"}], id="camping", active=True)
    return shop


def test_fifty_who_save_again_and_again_each_win_whole_or_leave_nothing(camping: Shop) -> None:
    """Five processes with ten threads each."""
    savers = [camping.do("save_structure_often", "4") for _ in range(5)]
    assert [saver.finish() for saver in savers] == [0] * 5
    result = [line.split() for saver in savers for line in saver.said]
    saved = {int(revision): level_id for word, revision, level_id in result if word == "saved"}
    injected(sum(word == "stale" for word, *_ in result))
    assert len(result) == 200 and {word for word, *_ in result} == {"saved", "stale"}
    assert sorted(saved) == list(range(2, len(saved) + 2)), "each revision has one winner, and none is left out"
    with camping.opened():
        taxonomy = db.session.get_one(Taxonomy, (SITE, "camping"))
        assert taxonomy.revision == len(saved) + 1
        levels = [level["levelId"] for level in taxonomy.root_levels]
        assert levels == ["tents", *(saved[revision] for revision in sorted(saved))], "no save overwrote another"
        authors = select(AuditEntry.actor).where(AuditEntry.action == "taxonomy.save").order_by(AuditEntry.id)
        assert db.session.scalars(authors).all() == levels[1:]
        logged = select(TaxonomyRevision.saved_by).order_by(TaxonomyRevision.revision.desc()).limit(50)
        assert db.session.scalars(logged).all() == [*levels[:0:-1], ""][:50]
        assert len(db.session.scalars(select(StoredEvent.id)).all()) == len(saved)

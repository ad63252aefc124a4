"""A process sees by a count of its own that it changed what a shop looks like."""

from __future__ import annotations

from contextlib import suppress

import pytest
from sqlalchemy import update

from app.domain.sites.models import Site
from app.domain.sites.versioning import own_changes
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site


class _Refused(Exception):
    pass


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        return make_site()


def test_a_change_counts_once_it_is_committed(site: Site) -> None:
    before = own_changes()
    with transaction():
        site.name = "Tools"
        db.session.flush()
        assert own_changes() == before
    assert own_changes() == before + 1


def test_a_change_that_is_rolled_back_does_not_count(site: Site) -> None:
    before = own_changes()
    with suppress(_Refused), transaction():
        site.name = "Tools"
        db.session.flush()
        raise _Refused
    with transaction():
        db.session.execute(update(Site).values(staging=False))
    assert own_changes() == before


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_savepoint_after_a_change_neither_counts_nor_forgets_it(site: Site, is_refused: bool) -> None:
    """Others would read the version of before and take it for the new one."""
    before = own_changes()
    with transaction():
        site.name = "Tools"
        db.session.flush()
        with suppress(_Refused), db.session.begin_nested():
            if is_refused:
                raise _Refused
        assert own_changes() == before
    assert own_changes() == before + 1

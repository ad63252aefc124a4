"""Versions of a site's synonyms and rules: the saved one and the served one."""

from __future__ import annotations

from typing import Protocol

from sqlalchemy import Select, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.search.events import ConfigurationSaved
from app.domain.search.serving.models import ServedConfiguration
from app.events import publish
from app.extensions import db


class Versioned(Protocol):
    """A synonym or a rule; `words_version` is the site's `saved_version` of which its state is a part."""

    @property
    def words_version(self) -> int: ...


def raise_version(site_id: int) -> int:
    """Raise the saved version, in the transaction of every change of a synonym or rule, and return it: the changed
    record carries it as `words_version`. The site's row stays locked until the commit, so versions rise in the order
    of the commits."""
    version = _raised(site_id) or _first(site_id) or _raised(site_id)
    publish(ConfigurationSaved(site_id))
    assert version is not None, "the row is there after one of two tries to make it"
    return version


def lock(site_id: int) -> None:
    """Lock the site's row, where there is one, until the commit, for a caller that writes by what it reads."""
    db.session.execute(state_query(site_id).with_for_update())


def _raised(site_id: int) -> int | None:
    raised = (
        update(ServedConfiguration)
        .where(ServedConfiguration.site_id == site_id)
        .values(saved_version=ServedConfiguration.saved_version + 1)
        .returning(ServedConfiguration.saved_version)
        .execution_options(synchronize_session=False)
    )
    return db.session.scalar(raised)


def _first(site_id: int) -> int | None:
    """Create the row of a site and return its version, None where another transaction was first."""
    try:
        with db.session.begin_nested():
            db.session.add(
                ServedConfiguration(site_id=site_id, saved_version=1, live_version=0, synonyms=[], rules=[], learned={})
            )
    except IntegrityError:
        return None
    return 1


def unpublished_sites() -> list[int]:
    """Return the ids of the sites whose saved configuration is not served yet."""
    waiting = select(ServedConfiguration.site_id).where(
        ServedConfiguration.saved_version > ServedConfiguration.live_version
    )
    return list(db.session.scalars(waiting.order_by(ServedConfiguration.site_id)))


def serving_state(site_id: int) -> ServedConfiguration | None:
    """Return the saved and the served version of a site; None before the first is saved."""
    return db.session.scalar(state_query(site_id))


def is_live(record: Versioned, state: ServedConfiguration | None) -> bool:
    """Whether shoppers are served the record as it is saved."""
    return not is_behind(state, record.words_version)


def is_behind(state: ServedConfiguration | None, version: int | None = None) -> bool:
    """Return whether that saved version, the latest for None, is not served yet. Every “not live yet” comes from here,
    so that a page and its rows agree."""
    saved, live = (state.saved_version, state.live_version) if state is not None else (0, 0)
    return (saved if version is None else version) > live


def state_query(site_id: int) -> Select[ServedConfiguration]:
    state = select(ServedConfiguration).where(ServedConfiguration.site_id == site_id)
    return state.execution_options(populate_existing=True)

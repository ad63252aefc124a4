"""The search indexes of a site: which generation is serving, how large it is and how old."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.models import RebuildRun
from app.domain.system.facts import Health
from app.domain.work.states import State
from app.extensions import db

LATEST_RUNS = 50
WORDS = {
    EngineState.HEALTHY: ("Healthy", Health.GOOD),
    EngineState.UNREACHABLE: ("Unreachable", Health.BAD),
    EngineState.NOT_SET_UP: ("Not set up", Health.WARN),
}


@dataclass(frozen=True, slots=True)
class IndexLine:
    """An index on the System page. `number` counts the generations of the index; `built_at` is None for one that none
    of the stored runs built."""

    name: IndexName
    word: str
    health: Health
    generation: str | None
    documents: int | None
    size: int | None
    built_at: datetime | None
    error: str | None

    @property
    def number(self) -> str:
        """The number in a name such as "gen-7-1f0c", or the whole name where it has none."""
        parts = (self.generation or "").split("-")
        return parts[1] if len(parts) == 3 and parts[0] == "gen" else self.generation or ""


def index_lines(engine: SearchEngine, site_id: int) -> list[IndexLine]:
    built = _built_at(site_id)
    return [_line(engine, site_id, index, built) for index in IndexName]


def _line(engine: SearchEngine, site_id: int, index: IndexName, built: dict[str, datetime]) -> IndexLine:
    status = engine.status(site_id, index)
    word, health = WORDS[status.state]
    size = engine.size(site_id, index) if status.generation else None
    at = built.get(status.generation or "")
    return IndexLine(index, word, health, status.generation, status.documents, size, at, status.error)


def _built_at(site_id: int) -> dict[str, datetime]:
    """Return the time at which each generation was finished, by its name."""
    query = select(RebuildRun.generations, RebuildRun.finished_at).where(
        RebuildRun.site_id == site_id, RebuildRun.state == State.DONE
    )
    rows = db.session.execute(query.order_by(RebuildRun.created_at.desc()).limit(LATEST_RUNS))
    return {
        str(swap["after"]): finished_at
        for generations, finished_at in rows
        for swap in generations.values()
        if swap.get("after") and finished_at
    }

"""Which machines can run one shop together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from app.domain.shared.clock import rfc3339

EMBEDDED_ENGINES = ("whoosh",)
DATABASES_OF_ONE_MACHINE = ("sqlite",)
SEPARATOR = "@"  # Between the name of a job and the id of a machine.
FILES = "files"  # Where the pictures of a machine are that keeps them on its own disk.


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """The facts of a machine: its host name, the release of the shop, and where it keeps what a shop has once: `engine`
    as SEARCH_ENGINE names it, `database` by its kind (`sqlite`, `postgresql`), `pictures` as FILES or in a store that
    machines share."""

    name: str
    release: str
    engine: str
    database: str
    pictures: str


class Obstacle(Enum):
    """A reason why two machines cannot run one shop: a sentence without its end, and what to set on both instead."""

    DATABASE = ("SQLite is a database for one machine", "DATABASE_URL to a PostgreSQL server")
    ENGINE = ("the embedded search engine keeps its index on one machine", "SEARCH_ENGINE to opensearch")
    PICTURES = ("pictures are files of one machine", "PICTURES to s3")

    @property
    def reason(self) -> str:
        return self.value[0]

    @property
    def setting(self) -> str:
        return self.value[1]


def obstacles(one: MachineFacts, other: MachineFacts) -> list[Obstacle]:
    """Return why two machines cannot run one shop together; none where they can. What one of them keeps for itself, the
    other has not."""
    both = (one, other)
    found = {
        Obstacle.DATABASE: any(facts.database in DATABASES_OF_ONE_MACHINE for facts in both),
        Obstacle.ENGINE: any(facts.engine in EMBEDDED_ENGINES for facts in both),
        Obstacle.PICTURES: any(facts.pictures == FILES for facts in both),
    }
    return [obstacle for obstacle, is_in_the_way in found.items() if is_in_the_way]


def describe_refusal(other: str, seen_at: datetime, found: Sequence[Obstacle]) -> str:
    """Return one sentence for the operator of a machine that may not start beside `other`, the name of a machine."""
    reasons = _enumerate([obstacle.reason for obstacle in found])
    settings = _enumerate([obstacle.setting for obstacle in found])
    return (
        f"The machine {other} runs this shop already (last seen {rfc3339(seen_at)}), and {reasons}: stop it first, or "
        f"set {settings} on both."
    )


def _enumerate(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def on_machine(job: str, machine_id: str) -> str:
    """Return the name under which a machine's own run of a job is noted; that of the job without a machine."""
    return f"{job}{SEPARATOR}{machine_id}" if machine_id else job

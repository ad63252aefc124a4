"""Which machines can run one shop, and what the operator of one that cannot reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.domain.machines.coexistence import MachineFacts, Obstacle, describe_refusal, obstacles, on_machine

SHARED = MachineFacts("left", "1.0", "opensearch", "postgresql", "s3")
AT = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


def test_machines_that_keep_nothing_for_themselves_run_beside_each_other() -> None:
    assert obstacles(SHARED, replace(SHARED, name="right", release="1.1")) == []


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"engine": "whoosh"}, [Obstacle.ENGINE]),
        ({"pictures": "files"}, [Obstacle.PICTURES]),
        ({"database": "sqlite"}, [Obstacle.DATABASE]),
        ({"engine": "whoosh", "pictures": "files"}, [Obstacle.ENGINE, Obstacle.PICTURES]),
        ({"engine": "none"}, []),
    ],
)
def test_what_either_keeps_for_itself_is_in_the_way(own: dict[str, str], expected: list[Obstacle]) -> None:
    alone = replace(SHARED, name="right", **own)
    assert obstacles(alone, SHARED) == obstacles(SHARED, alone) == expected


def test_the_refusal_is_one_sentence_with_machine_reasons_and_settings() -> None:
    sentence = describe_refusal("left", AT, [Obstacle.DATABASE, Obstacle.ENGINE, Obstacle.PICTURES])
    assert sentence == (
        "The machine left runs this shop already (last seen 2026-11-28T12:00:00Z), and SQLite is a database for one "
        "machine, the embedded search engine keeps its index on one machine and pictures are files of one machine: "
        "stop it first, or set DATABASE_URL to a PostgreSQL server, SEARCH_ENGINE to opensearch and PICTURES to s3 on "
        "both."
    )
    assert describe_refusal("left", AT, [Obstacle.ENGINE]).endswith("set SEARCH_ENGINE to opensearch on both.")


def test_a_job_has_a_name_for_each_machine_and_keeps_its_own_without_one() -> None:
    assert (on_machine("measure", "a1"), on_machine("measure", "")) == ("measure@a1", "measure")

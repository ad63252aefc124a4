"""What limits are multiples of: small pieces of work that any shop has to do, with no code of this one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text

from app.extensions import db
from app.transaction import transaction
from bench import bare_page as bare
from bench.measuring import Yardstick, median, milliseconds, seconds

PAGE_BYTES = 30_000
TIMES = 40


def bare_page(wished_bytes: int = PAGE_BYTES) -> Yardstick:
    """A page from one Jinja template and a list of products, through Flask, without a network."""
    client, path = bare.app.test_client(), f"/?choices={bare.choices_for(wished_bytes)}"
    client.get(path)
    return Yardstick("a bare page", median(milliseconds(lambda _: client.get(path), range(TIMES))), "ms")


def prompt_answer() -> Yardstick:
    """What ten milliseconds are on this machine: five bare pages, of which one takes two where they were promised."""
    return Yardstick("a prompt answer of five bare pages", 5 * bare_page().value, "ms")


def bare_commit() -> Yardstick:
    """One row inserted and committed in the database of the current application."""
    with transaction():
        db.session.execute(text("create table bench_commits (number integer)"))

    def commit(number: int) -> None:
        with transaction():
            db.session.execute(text("insert into bench_commits values (:number)"), {"number": number})

    return Yardstick("a bare commit", median(milliseconds(commit, range(TIMES))), "ms")


def bare_edit() -> Yardstick:
    """What a request that changes something comes to at least."""
    page, commit = bare_page(), bare_commit()
    return Yardstick("a bare page and commit", page.value + commit.value, "ms")


def json_round_trip(value: object) -> Yardstick:
    took = median(milliseconds(lambda _: json.loads(json.dumps(value)), range(7)))
    return Yardstick("its JSON written and read", took, "ms")


def durable_write(directory: Path, size: int = 100_000) -> Yardstick:
    """A file written so that it outlives a power cut, and swapped in."""

    def write(number: int) -> None:
        file = directory / f"durable-{number}"
        with file.open("wb") as opened:
            opened.write(os.urandom(size))
            opened.flush()
            os.fsync(opened.fileno())
        file.replace(directory / "durable")

    return Yardstick("a durable write", median(milliseconds(write, range(TIMES))), "ms")


def durable_write_and_page(directory: Path) -> Yardstick:
    """For work that takes the processor as well as the disk."""
    return Yardstick("a durable write and a bare page", durable_write(directory).value + bare_page().value, "ms")


def plain_statement(name: str, execute: Callable[[], object]) -> Yardstick:
    """The same rows touched by one plain statement, taken back."""
    took = seconds(execute)
    db.session.rollback()
    return Yardstick(name, took, "s")

"""Of all processes of a machine, two decode a picture at a time."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

from app.adapters.decoding_slots import MOST_AT_ONCE, decoding_slot

PROCESSES = 6


def decode(folder: Path, at_work: Path, begin: Barrier, number: int) -> None:
    begin.wait(20)
    with decoding_slot(folder):
        mark = at_work / str(number)
        mark.touch()
        busy = len(list(at_work.iterdir()))
        mark.unlink()
    (folder / f"saw-{number}").write_text(str(busy))


def hold(folder: Path, held: Event) -> None:
    with decoding_slot(folder):
        held.set()
        Event.wait(multiprocessing.Event(), 60)


def test_no_more_decode_at_once_than_there_are_slots(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    at_work, folder = tmp_path / "at work", tmp_path / "pictures"
    at_work.mkdir()
    begin = fork.Barrier(PROCESSES)
    decoders = [fork.Process(target=decode, args=(folder, at_work, begin, number)) for number in range(PROCESSES)]
    for decoder in decoders:
        decoder.start()
    for decoder in decoders:
        decoder.join(20)
        assert decoder.exitcode == 0
    seen = [int(file.read_text()) for file in folder.glob("saw-*")]
    assert len(seen) == PROCESSES
    assert max(seen) <= MOST_AT_ONCE


def test_a_process_that_is_killed_leaves_its_slot(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    held = [fork.Event() for _ in range(MOST_AT_ONCE)]
    holders = [fork.Process(target=hold, args=(tmp_path, event)) for event in held]
    for holder, event in zip(holders, held, strict=True):
        holder.start()
        assert event.wait(20)
    for holder in holders:
        holder.kill()
        holder.join(20)
    with decoding_slot(tmp_path):
        pass

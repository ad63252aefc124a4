"""Generations on disk: swaps under readers, damage, debris, and what dead processes leave."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import shutil
import signal
import stat
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from app.adapters.whoosh import WhooshEngine
from app.adapters.whoosh.files import FilePart
from app.adapters.whoosh.generation import damaged_files, read_commit
from app.domain.search.engine import (
    Delete,
    EngineState,
    IndexDocument,
    SearchRequest,
    SearchUnavailable,
    Sort,
    Upsert,
    ValueFilter,
)
from tests.adapters.whoosh_catalogue import PRODUCTS, SITE, apply, built, generation_directory, product

EVERYTHING = SearchRequest(per_page=0)
READERS = 2
fork = multiprocessing.get_context("fork")


def place(directory: Path) -> Path:
    return directory / str(SITE) / PRODUCTS.value


def generations(directory: Path) -> set[str]:
    return {path.name for path in place(directory).glob("gen-*")}


def total(engine: WhooshEngine) -> int:
    return engine.search(SITE, PRODUCTS, EVERYTHING).total


def segment_files(directory: Path) -> list[Path]:
    return sorted(generation_directory(directory).glob("*.seg"))


def in_another_process(work: Callable[[], None]) -> int | None:
    process = fork.Process(target=work)
    process.start()
    process.join(60)
    return process.exitcode


def test_folders_are_private_because_the_files_hold_pickles(tmp_path: Path) -> None:
    built(tmp_path / "index", 5)
    for path in (place(tmp_path / "index"), generation_directory(tmp_path / "index"), tmp_path / "index"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_every_state_of_a_generation_matches_its_manifest(tmp_path: Path) -> None:
    engine = built(tmp_path, 40)
    for number in range(15):
        apply(engine, Upsert(product(number, 1)), Delete(f"P{number + 20}"))
        directory = generation_directory(tmp_path)
        assert damaged_files(directory, read_commit(directory)) == []
    assert read_commit(directory).documents == total(engine) == 25


def test_old_files_do_not_pile_up(tmp_path: Path) -> None:
    engine = built(tmp_path, 40)
    for number in range(40):
        apply(engine, Upsert(product(number % 7, number)))
    names = os.listdir(generation_directory(tmp_path))
    assert len([name for name in names if name.endswith(".toc")]) == 2
    assert len([name for name in names if name.endswith(".seg")]) <= 16
    assert not [name for name in names if name.endswith(".new")]


def test_a_reader_in_the_middle_of_opening_still_finds_the_files_of_the_commit_before(tmp_path: Path) -> None:
    engine = built(tmp_path, 40)
    directory = generation_directory(tmp_path)
    for number in range(15):
        before = read_commit(directory)
        apply(engine, Upsert(product(number, 1)))
        assert damaged_files(directory, before) == []


def test_another_process_sees_a_change_at_once(tmp_path: Path) -> None:
    engine = built(tmp_path, 10)
    reader = WhooshEngine(tmp_path)
    assert total(reader) == 10

    def delete() -> None:
        apply(engine, Delete("P1"))

    assert in_another_process(delete) == 0
    assert total(reader) == 9


def test_segments_that_stay_are_not_read_again(tmp_path: Path) -> None:
    engine = built(tmp_path, 10)
    (before,) = engine._reader(SITE, PRODUCTS).view().segments
    apply(engine, Upsert(product(3, 1)))
    after = engine._reader(SITE, PRODUCTS).view().segments
    assert after[0] is before
    assert len(after) == 2


# Damage


@pytest.mark.parametrize("seed", range(12))
def test_damage_is_found_before_it_is_searched_and_told_in_a_sentence(tmp_path: Path, seed: int) -> None:
    built(tmp_path, 30)
    chance = random.Random(seed)
    path = chance.choice(sorted(generation_directory(tmp_path).iterdir()))
    content = bytearray(path.read_bytes())
    spot = chance.randrange(len(content))
    match seed % 4:
        case 0:
            path.unlink()
        case 1:
            path.write_bytes(content[:spot])
        case _:
            content[spot] ^= 1 << chance.randrange(8)
            path.write_bytes(content)
    engine = WhooshEngine(tmp_path)
    with pytest.raises(SearchUnavailable, match="Rebuild to fix it"):
        engine.search(SITE, PRODUCTS, EVERYTHING)
    status = engine.status(SITE, PRODUCTS)
    assert status.state is EngineState.UNREACHABLE
    assert status.error and "Rebuild" in status.error


QUERIES = (
    EVERYTHING,
    SearchRequest(words="red tent", facets=("brand", "colour"), range_facets=("price",), per_page=100),
    SearchRequest(sort=Sort.NAME, per_page=100, filters=(ValueFilter("brand", ("Acme",)),)),
)


@pytest.mark.parametrize("seed", range(50))
def test_what_is_done_to_the_files_of_an_open_index_is_noticed_by_the_next_search(tmp_path: Path, seed: int) -> None:
    """A bit flipped, or the end cut off, in place: what the open view keeps in memory hides none of it."""
    engine = built(tmp_path, 30)
    chance = random.Random(seed)
    for request in chance.sample(QUERIES, chance.randint(0, 3)):
        engine.search(SITE, PRODUCTS, request)
    spoil(chance.choice(segment_files(tmp_path)), chance)
    for request in QUERIES:
        with pytest.raises(SearchUnavailable, match="Rebuild to fix it"):
            engine.search(SITE, PRODUCTS, request)
    assert engine.status(SITE, PRODUCTS).state is EngineState.UNREACHABLE


def spoil(path: Path, chance: random.Random) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        if chance.random() < 0.3:
            file.truncate(chance.randrange(size))
            return
        place = file.seek(chance.randrange(size))
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1 << chance.randrange(8)]))


@pytest.mark.parametrize("name", ["*.seg", "*.toc", "manifest.json"])
def test_a_file_that_is_gone_is_told_by_the_status_while_open_readers_go_on(tmp_path: Path, name: str) -> None:
    engine = built(tmp_path, 30)
    assert total(engine) == 30
    (path,) = generation_directory(tmp_path).glob(name)
    path.rename(tmp_path / "away")
    assert total(engine) == 30
    assert engine.status(SITE, PRODUCTS).state is EngineState.UNREACHABLE
    path.write_bytes(b"{}")
    assert engine.status(SITE, PRODUCTS).state is EngineState.UNREACHABLE


def test_a_file_that_was_put_back_from_a_copy_is_read_anew(tmp_path: Path) -> None:
    engine = built(tmp_path, 30)
    (path,) = segment_files(tmp_path)
    shutil.copy(path, tmp_path / "copy")
    (tmp_path / "copy").replace(path)
    assert engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY
    assert total(engine) == 30


def test_bits_that_the_disk_lost_by_itself_are_found_by_comparing_checksums_and_told_to_every_process(
    tmp_path: Path,
) -> None:
    """They leave size and time of the file as they were."""
    engine, other = built(tmp_path, 30), WhooshEngine(tmp_path)
    assert total(other) == 30
    (path,) = segment_files(tmp_path)
    before = path.stat()
    spoil(path, random.Random(0))  # A bit flipped.
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert other.status(SITE, PRODUCTS).state is EngineState.HEALTHY
    with pytest.raises(SearchUnavailable, match=path.name):
        engine.verify(SITE, PRODUCTS)
    assert other.status(SITE, PRODUCTS).state is EngineState.UNREACHABLE
    with pytest.raises(SearchUnavailable, match=path.name):
        total(other)
    built(tmp_path, 31)
    assert total(other) == 31


def test_a_file_that_the_disk_does_not_give_back_is_damaged_for_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, other = built(tmp_path, 30), WhooshEngine(tmp_path)
    assert total(engine) == total(other) == 30

    def fail(*_arguments: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(FilePart, "__getitem__", fail)
        patch.setattr("app.adapters.whoosh.generation.digest_of", fail)
        for _ in range(2):
            with pytest.raises(SearchUnavailable):
                engine.search(SITE, PRODUCTS, SearchRequest(words="tent"))
    assert other.status(SITE, PRODUCTS).state is EngineState.UNREACHABLE


ERRORS = (
    OSError(5, "Input/output error"), zlib.error("bad"), struct.error("short"), IndexError("list"), KeyError("name"),
    EOFError(), pickle.UnpicklingError("bad"), ValueError("buffer"), UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
    OverflowError("large"), MemoryError(), AssertionError("no column"),
)  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_reading_raises_is_an_index_that_cannot_be_read_and_the_next_search_opens_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    engine = built(tmp_path, 30)
    assert total(engine) == 30

    def fail(*_arguments: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(FilePart, "__getitem__", fail)
        with pytest.raises(SearchUnavailable, match="cannot be read"):
            engine.search(SITE, PRODUCTS, SearchRequest(words="tent"))
        with pytest.raises(SearchUnavailable, match="cannot be read"):
            list(engine.digests(SITE, PRODUCTS))
    assert total(engine) == 30


def test_a_rebuild_mends_a_damaged_index_for_an_engine_that_had_given_up(tmp_path: Path) -> None:
    built(tmp_path, 30)
    (segment,) = segment_files(tmp_path)
    segment.write_bytes(segment.read_bytes()[:100])
    engine = WhooshEngine(tmp_path)
    with pytest.raises(SearchUnavailable):
        total(engine)
    built(tmp_path, 31)
    assert total(engine) == 31
    assert engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY


def test_an_index_that_comes_back_is_searched_again(tmp_path: Path) -> None:
    built(tmp_path / "index", 30)
    shutil.move(tmp_path / "index", tmp_path / "away")
    engine = WhooshEngine(tmp_path / "index")
    with pytest.raises(SearchUnavailable, match="Rebuild"):
        total(engine)
    shutil.move(tmp_path / "away", tmp_path / "index")
    assert total(engine) == 30


def test_open_readers_go_on_when_the_index_is_removed_and_the_status_says_so(tmp_path: Path) -> None:
    engine = built(tmp_path, 30)
    assert total(engine) == 30
    shutil.rmtree(place(tmp_path))
    assert engine.search(SITE, PRODUCTS, SearchRequest(words="tent")).total > 0
    assert engine.status(SITE, PRODUCTS).state is EngineState.UNREACHABLE
    with pytest.raises(SearchUnavailable):
        apply(engine, Delete("P1"))
    built(tmp_path, 29)
    assert total(engine) == 29
    assert engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY


def test_a_full_disk_fails_the_build_with_the_reason_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = built(tmp_path, 10)
    generation = engine.start_generation(SITE, PRODUCTS)
    generation.add(product(number) for number in range(20))
    monkeypatch.setattr("os.fsync", _no_space)
    with pytest.raises(SearchUnavailable, match="No space left on device"):
        generation.seal()
    generation.discard()
    monkeypatch.undo()
    assert total(engine) == 10
    assert len(generations(tmp_path)) == 1


def _no_space(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


# Builders


def test_large_builds_use_a_second_process_and_hold_every_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.adapters.whoosh.building.SEGMENT_DOCUMENTS", 100)
    monkeypatch.setattr("app.adapters.whoosh.building.WORTH_A_CHILD", 40)
    engine = built(tmp_path, 470)
    assert total(engine) == 470
    assert len(segment_files(tmp_path)) > 1
    assert dict(engine.digests(SITE, PRODUCTS)) == {f"P{number}": f"{number}.0" for number in range(470)}


def test_a_document_that_cannot_be_written_fails_the_build_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.adapters.whoosh.building.WORTH_A_CHILD", 2)
    generation = WhooshEngine(tmp_path).start_generation(SITE, PRODUCTS)
    generation.add([IndexDocument(id="P1", name="Tent", card={"price": object()}), product(2)])
    with pytest.raises((SearchUnavailable, TypeError)):
        generation.seal()
    generation.discard()
    assert generations(tmp_path) == set()


def test_what_a_killed_builder_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    engine = built(tmp_path, 10)

    def build_until_killed() -> None:
        generation = WhooshEngine(tmp_path).start_generation(SITE, PRODUCTS)
        generation.add(product(number) for number in range(50))
        generation.seal()
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_another_process(build_until_killed) == -signal.SIGKILL
    assert len(generations(tmp_path)) == 2
    assert total(engine) == 10
    engine.start_generation(SITE, PRODUCTS).discard()
    assert len(generations(tmp_path)) == 1
    assert total(engine) == 10


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), SystemExit(0)])
def test_a_generation_that_is_live_survives_what_goes_wrong_right_after_the_swap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    engine = built(tmp_path, 10)
    generation = engine.start_generation(SITE, PRODUCTS)
    generation.add(product(number) for number in range(20))
    generation.seal()

    def fail(path: Path) -> None:
        raise error

    monkeypatch.setattr("app.adapters.whoosh.generation.fsync_path", fail)
    with pytest.raises((SearchUnavailable, SystemExit)), engine.exclusive(SITE, PRODUCTS):
        generation.publish()
    generation.discard()
    monkeypatch.undo()
    assert total(WhooshEngine(tmp_path)) == total(engine) == 20
    engine.start_generation(SITE, PRODUCTS).discard()
    assert len(generations(tmp_path)) == 1


def test_pins_that_killed_builders_left_go_and_the_count_goes_on(tmp_path: Path) -> None:
    built(tmp_path, 10)
    pins = place(tmp_path) / "pins"
    for name in ("gen-5-0000aaaa", "gen-6-0000bbbb", "gen-7-0000cccc"):
        (pins / name).touch()
    built(tmp_path, 11)
    assert {name.split("-")[1] for name in os.listdir(pins)} == {"8"}


def test_checksums_are_durable_before_the_table_that_needs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = built(tmp_path, 10)
    directory = generation_directory(tmp_path)
    steps: list[str] = []
    replace, fsync = os.replace, os.fsync

    def noted_replace(source: str | Path, target: str | Path) -> None:
        steps.append(Path(target).suffix)
        replace(source, target)

    def noted_fsync(descriptor: int) -> None:
        steps.append("synced" if os.path.samestat(os.fstat(descriptor), directory.stat()) else "file")
        fsync(descriptor)

    monkeypatch.setattr("os.replace", noted_replace)
    monkeypatch.setattr("os.fsync", noted_fsync)
    apply(engine, Delete("P1"))
    assert steps[steps.index(".json") :] == [".json", "synced", ".toc", "synced"]


def test_a_build_in_another_process_gives_way_to_a_later_one_and_publishes_nothing(tmp_path: Path) -> None:
    engine = built(tmp_path, 10)
    started, finish = fork.Event(), fork.Event()

    def build() -> None:
        generation = WhooshEngine(tmp_path).start_generation(SITE, PRODUCTS)
        generation.add(product(number) for number in range(50))
        generation.seal()
        started.set()
        finish.wait(30)
        with pytest.raises(SearchUnavailable), WhooshEngine(tmp_path).exclusive(SITE, PRODUCTS):
            generation.publish()
        generation.discard()

    builder = fork.Process(target=build)
    builder.start()
    assert started.wait(30)
    later = engine.start_generation(SITE, PRODUCTS)
    finish.set()
    builder.join(30)
    assert builder.exitcode == 0
    assert total(engine) == 10
    later.add(product(number) for number in range(20))
    later.seal()
    with engine.exclusive(SITE, PRODUCTS):
        later.publish()
    assert total(engine) == 20
    assert not any(name.endswith(".tmp") for name in generations(tmp_path))

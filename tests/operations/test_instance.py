"""What the shop stores is for its own user alone, also where an older version left it open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config import Config, ConfigurationError
from app.operations.instance import keep_private, say_private


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = os.umask(0o022)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def config(folder: Path) -> Config:
    return Config(
        database_url=f"sqlite:///{folder / 'data' / 'shop.db'}", index_dir=folder / "index", media_dir=folder / "media"
    )


def test_open_folders_and_databases_are_closed_and_named(folder: Path) -> None:
    for name in ("instance", "index", "data"):
        (folder / name).mkdir(mode=0o755)
    for name in ("shop.db", "shop.db-wal"):
        (folder / "data" / name).touch(0o644)
    sentences = keep_private(config(folder))
    assert len(sentences) == 4 and str(folder / "instance") in sentences[0]
    assert {mode(folder / name) for name in ("instance", "index")} == {0o700}
    assert mode(folder / "data" / "shop.db") == mode(folder / "data" / "shop.db-wal") == 0o600
    assert mode(folder / "data") == 0o755, "a folder that others use, too, is left as it is"
    assert keep_private(config(folder)) == []


def test_new_files_are_the_owners_alone(folder: Path) -> None:
    keep_private(config(folder))
    (folder / "new").touch()
    assert mode(folder / "new") == 0o600


@pytest.mark.parametrize(("open_to", "refused"), [(0o755, True), (0o770, False)])
def test_what_belongs_to_somebody_else_must_not_stand_open_to_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch, open_to: int, refused: bool
) -> None:
    (folder / "index").mkdir()
    (folder / "index").chmod(open_to)

    def not_allowed(_path: Path, _mode: int) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "chmod", not_allowed)
    if refused:
        with pytest.raises(ConfigurationError, match=r"chmod go-rwx .*/index"):
            keep_private(config(folder))
    else:
        (sentence,) = keep_private(config(folder))
        assert sentence.startswith(f"The group of {folder / 'index'} can read it")


def test_files_in_which_earlier_releases_counted_networks_are_removed(folder: Path) -> None:
    for name in ("day-windows", "network-windows", "rate-limits", "shop.db"):
        (folder / name).write_bytes(b"hashes")
    for _ in range(2):
        say_private(config(folder))
    assert [path.name for path in folder.iterdir()] == ["shop.db"]

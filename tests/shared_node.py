"""One node of OpenSearch for all processes of a test run, kept by a process of its own until the last of them is
done with it, or dead."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO

from opensearchpy import OpenSearch

from app.adapters.opensearch import OpenSearchEngine
from app.adapters.write_locks import file_locks
from app.config import OpenSearchSettings
from app.domain.search.sentence_model import SentenceModel
from tests.opensearch import SECONDS_TO_START, running_node, where
from tests.surroundings import ROOT

_keepers: list[subprocess.Popen[bytes]] = []


@contextmanager
def shared_node(folder: Path) -> Iterator[str]:
    """The address of the node whose files lie in the folder."""
    where()
    folder.mkdir(exist_ok=True)
    with ExitStack() as stack:
        with _locked(folder / "start", fcntl.LOCK_EX):
            users = stack.enter_context((folder / "users").open("a"))
            if not _try_lock(users, fcntl.LOCK_SH) or not (folder / "url").exists():
                fcntl.flock(users, fcntl.LOCK_SH)
                _start_keeper(folder)
        yield (folder / "url").read_text()


def _start_keeper(folder: Path) -> None:
    (folder / "url").unlink(missing_ok=True)
    keeper = subprocess.Popen([sys.executable, "-m", "tests.shared_node", str(folder)], cwd=ROOT)
    _keepers.append(keeper)
    deadline = time.monotonic() + SECONDS_TO_START + 10
    while not (folder / "url").exists():
        if keeper.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"The node did not start; see {folder}.")
        time.sleep(0.1)


def keep(folder: Path) -> None:
    """Run the node until nobody uses it."""
    with running_node(folder / "node", "knn") as node:
        (folder / "url.new").write_text(node.url)
        (folder / "url.new").rename(folder / "url")
        with _locked(folder / "users", fcntl.LOCK_EX):
            (folder / "url").unlink()


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, kind)
        yield


def _try_lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def own_settings(url: str, **settings: object) -> Iterator[OpenSearchSettings]:
    """Settings with a prefix of the test's own, whose indices are removed at its end."""
    prefix = f"t{token_hex(6)}"
    try:
        yield OpenSearchSettings(url=url, prefix=prefix, **settings)  # type: ignore[arg-type]
    finally:
        client = OpenSearch([url], timeout=30)
        found = client.cat.indices(index=f"{prefix}-*", params={"format": "json", "expand_wildcards": "all"})
        if found:
            client.indices.delete(index=",".join(index["index"] for index in found))
        client.close()


def lose_files(client: OpenSearch, pattern: str) -> None:
    """Remove the files of an index from the disk of the node, which has to open them anew then and cannot."""
    (node,) = client.nodes.info(metric="settings")["nodes"].values()
    (index,) = client.cat.indices(index=pattern, params={"format": "json"})
    client.indices.close(index=index["index"])
    data = Path(node["settings"]["path"]["home"]) / "data" / "nodes" / "0" / "indices"
    shutil.rmtree(data / index["uuid"] / "0")
    client.indices.open(index=index["index"], params={"wait_for_active_shards": 0})


def engine_of(settings: OpenSearchSettings, folder: Path, model: SentenceModel | None = None) -> OpenSearchEngine:
    return OpenSearchEngine(settings, file_locks(folder / "locks"), model=model, wait=60)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))

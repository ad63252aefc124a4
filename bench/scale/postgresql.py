"""A PostgreSQL server of the benchmark's own, with a server's usual settings: statistics are gathered and files are
written durably."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.surroundings import postgresql_programs

USER = "shop"
SETTINGS = (
    "listen_addresses=",
    "max_connections=60",
    "shared_buffers=1GB",
    "effective_cache_size=4GB",
    "work_mem=16MB",
    "maintenance_work_mem=256MB",
    "max_wal_size=4GB",
    "random_page_cost=1.1",  # As for a solid-state disk.
)
SECONDS_TO_START = 60


@contextmanager
def running_postgresql(folder: Path) -> Iterator[str]:
    """The address of a database on a server whose files lie in the folder, made where there are none. The folder's
    name must be short, for a socket lies there."""
    programs, data = postgresql_programs(), folder / "data"
    as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    folder.mkdir(exist_ok=True)
    if as_user:  # The server refuses to run as root.
        shutil.chown(folder, "nobody", "nogroup")
    if not data.exists():
        made = [programs / "initdb", "-D", data, "--auth=trust", f"--username={USER}", "--locale=C.UTF-8"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd="/", **as_user)
    settings = [part for setting in SETTINGS for part in ("-c", setting)]
    with (folder / "log").open("a") as log:
        command = [programs / "postgres", "-D", data, "-k", folder, *settings]
        server = subprocess.Popen(command, stderr=log, cwd="/", **as_user)
    try:
        _make_database(folder, server)
        yield f"postgresql+psycopg://{USER}@/{USER}?host={folder}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def _make_database(folder: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            with psycopg.connect(host=str(folder), user=USER, dbname="postgres", autocommit=True) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (USER,)).fetchone():
                    connection.execute(f"CREATE DATABASE {USER}")
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)

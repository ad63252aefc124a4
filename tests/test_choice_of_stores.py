"""The settings say what machines share through Redis; without any, everything is of one machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from app.adapters.redis.memory import RedisMemory
from app.adapters.redis.stream_spool import StreamSpool
from app.config import Config
from app.domain.search_statistics.counting.file_spool import FileSpool
from app.domain.shared.memory import MachineMemory
from app.factory import stores_for
from app.ports import Stores


def stores(folder: Path, **settings: Any) -> Stores:
    config = Config(secret_key="k" * 32, database_url="sqlite://", redis_url="redis://queue", counting_dir=folder)
    return stores_for(replace(config, **settings))


def kinds_of(chosen: Stores) -> tuple[set[type], type]:
    spools = chosen.counting, chosen.suggestions_shown, chosen.crawler_visits, chosen.redirect_hits
    return {type(spool) for spool in spools}, type(chosen.memory)


def test_a_machine_alone_counts_in_its_files_and_its_memory(tmp_path: Path) -> None:
    assert kinds_of(stores(tmp_path)) == ({FileSpool}, MachineMemory)


def test_machines_share_what_their_settings_name(tmp_path: Path) -> None:
    assert kinds_of(stores(tmp_path, counting="redis")) == ({StreamSpool}, MachineMemory)
    assert kinds_of(stores(tmp_path, limits_redis_url="redis://limits")) == ({FileSpool}, RedisMemory)

"""The restriction of the shop's files to its own user: among them are addresses, orders and hashes of passwords."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from app.config import Config
from app.environment import ConfigurationError

RETIRED = ("rate-limits", "day-windows", "network-windows")
UMASK = 0o077
OTHERS = 0o007


def keep_private(config: Config) -> list[str]:
    """Make new files accessible to the user alone, take from group and others what access they have to stored ones, and
    return a sentence for each of these. Raises ConfigurationError for what belongs to another user and stands open to
    all."""
    os.umask(UMASK)
    return [_closed(path) for path in _stored(config) if path.exists() and path.stat().st_mode & UMASK]


def say_private(config: Config) -> None:
    """Call `keep_private`, print its sentences for the operator, and remove the files in which earlier releases counted
    requests by hashes of addresses."""
    for name in RETIRED:
        (config.index_dir.parent / name).unlink(missing_ok=True)
    for sentence in keep_private(config):
        print(sentence, file=sys.stderr)


def _stored(config: Config) -> Iterator[Path]:
    yield from (config.instance_folder, config.index_dir, config.media_dir, config.counting_folder)
    yield from (config.sitemap_folder, config.mail_folder, config.bundle_folder, *config.database_files)


def _closed(path: Path) -> str:
    mode = path.stat().st_mode
    try:
        path.chmod(mode & ~UMASK & 0o7777)
    except PermissionError:
        if mode & OTHERS:
            raise ConfigurationError(
                f"Other users of this machine can read {path}, and it belongs to another user: "
                f"let its owner run chmod go-rwx {path}, or start the shop as its owner."
            ) from None
        return f"The group of {path} can read it, which its owner may change with chmod go-rwx {path}."
    return f"Other users of this machine could read {path}; now only its owner can."

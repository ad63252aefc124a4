"""The shop platform: search, taxonomy, SEO and till."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from app.config import Config
    from app.ports import Ports


# Before anything loads numpy. The shop has threads of its own: one that multiplies must not wait for others to spin
# beside it on the few processors that all of them share.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def create_app(config: Config | None = None, ports: Ports | None = None, surfaces: bool = True) -> Flask:
    """Create the application (app/factory.py, loaded only here: the supervisor, which only starts the shop's programs,
    needs none of it)."""
    from app import factory

    return factory.create_app(config, ports, surfaces)

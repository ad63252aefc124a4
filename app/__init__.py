"""The shop platform: search, taxonomy, SEO and till."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from app.config import Config
    from app.ports import Ports


def create_app(config: Config | None = None, ports: Ports | None = None, surfaces: bool = True) -> Flask:
    """See app/factory.py, loaded only now: the supervisor, which but starts the shop's programs, needs none of it."""
    from app import factory

    return factory.create_app(config, ports, surfaces)

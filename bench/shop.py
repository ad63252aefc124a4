"""The settings of a shop of a benchmark's own, and its application on an empty database."""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from app import create_app
from app.config import from_environment
from app.extensions import db

SECRET_KEY = "a key for benchmarks that is long enough"


def settings(directory: Path) -> dict[str, str]:
    """The environment of its processes."""
    return {
        "DATABASE_URL": f"sqlite:///{directory / 'shop.db'}",
        "INDEX_DIR": str(directory / "index"),
        "MEDIA_DIR": str(directory / "media"),
        "SECRET_KEY": SECRET_KEY,
        "LOG_LEVEL": "ERROR",
    }


def empty_shop(environment: dict[str, str]) -> Flask:
    app = create_app(from_environment(environment))
    with app.app_context():
        db.create_all()
    return app

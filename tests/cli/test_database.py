"""`flask database copy`."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask_migrate import stamp

from app.domain.system.release import MIGRATIONS


@pytest.fixture
def shop(app: Flask) -> Flask:
    with app.app_context():
        stamp(str(MIGRATIONS))
    return app


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nonsense", "That is no address of a database"),
        ("mysql://root:pass-phrase@host/shop", "The shop knows no database of the kind mysql"),
        ("sqlite://", "The address names no file"),
        ("postgresql://shop:pass-phrase@127.0.0.1:1/shop", "The database to copy to does not answer"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused_and_not_repeated(shop: Flask, address: str, sentence: str) -> None:
    arguments = ["database", "copy", "--rehearsal", "--to", address]
    result = shop.test_cli_runner().invoke(args=arguments)
    assert result.exit_code == 1 and sentence in result.output
    assert "pass-phrase" not in result.output


def test_the_address_may_come_from_the_environment(shop: Flask, tmp_path: Path) -> None:
    (tmp_path / "there.db").touch()
    environment = {"TO_DATABASE_URL": f"sqlite:///{tmp_path / 'there.db'}"}
    result = shop.test_cli_runner().invoke(args=["database", "copy", "--rehearsal"], env=environment)
    assert result.exit_code == 1 and "there.db already: move it aside first" in result.output

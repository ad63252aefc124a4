"""The databases of a copy on PostgreSQL: what others do to them meanwhile, and what fails once all is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, NullPool, create_engine, event, insert, make_url, select, text

from app.config import Config
from app.domain.shared.problems import DomainError
from app.domain.sites.models import Site
from app.operations.database_copy.places import open_source, open_target
from tests.operations.database_copy.every_table import row_of
from tests.operations.database_copy.shops import (
    config_of,
    copy,
    empty_database,
    end_connections,
    make_tables,
    new_shop,
    written,
)

pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
FAILING_ANALYZE = """
CREATE FUNCTION no_analyze(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_query() = 'ANALYZE' THEN RAISE EXCEPTION 'no statistics'; END IF;
    RETURN name;
END $$;
CREATE INDEX analysed ON sites (no_analyze(name))
"""
FAILING_COMMIT = """
CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_terminate_backend(pg_backend_pid());
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER ended AFTER INSERT ON sites DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION end_session()
"""


@pytest.fixture
def url(own_database_url: str) -> str:
    return empty_database(own_database_url)


@pytest.fixture
def shop(tmp_path: Path) -> Config:
    """A shop on SQLite that has a site."""
    config = new_shop(tmp_path / "shop")
    add_site(config.database_url)
    return config


def add_site(url: str) -> None:
    with written(url) as connection:
        connection.execute(insert(Site), row_of(Site.__table__, 1))


def prepare(shop: Config, url: str, statements: str) -> None:
    """Make the tables of a shop, and something of the operator's own beside them."""
    make_tables(shop, url)
    with written(url) as connection:
        connection.exec_driver_sql(statements)


@contextmanager
def before_the_lock(act: Callable[[], None]) -> Iterator[None]:
    def look(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith("LOCK TABLE"):
            act()

    event.listen(Engine, "before_cursor_execute", look)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", look)


def test_what_is_saved_just_before_the_tables_are_locked_is_read(url: str, tmp_path: Path) -> None:
    config = new_shop(tmp_path / "shop", url)
    with before_the_lock(lambda: add_site(url)), open_source(config, is_rehearsal=False) as source:
        assert len(source.scalars(select(Site.id)).all()) == 1


def test_a_source_that_is_lost_once_all_is_copied_fails_nothing(url: str, tmp_path: Path) -> None:
    config = new_shop(tmp_path / "shop", url)
    with open_source(config, is_rehearsal=True) as source:
        assert source.scalars(select(Site.id)).all() == []
        with written(url) as other:
            end_connections(other)


def test_a_copy_whose_statistics_fail_is_done(shop: Config, url: str) -> None:
    prepare(shop, url, FAILING_ANALYZE)
    copy(shop, url)
    with written(url) as connection:
        assert len(connection.scalars(select(Site.id)).all()) == 1
    with pytest.raises(Exception, match="no statistics"), written(url) as connection:
        connection.execute(text("ANALYZE"))


def test_a_session_that_is_lost_while_the_copy_is_committed_leaves_it_in_doubt(shop: Config, url: str) -> None:
    prepare(shop, url, FAILING_COMMIT)
    with pytest.raises(DomainError) as error:
        copy(shop, url)
    assert "it is not known whether the copy was kept" in error.value.message


def test_a_source_whose_tables_somebody_writes_to_is_a_shop_that_runs(url: str, tmp_path: Path) -> None:
    config = new_shop(tmp_path / "shop", url)
    with ExitStack() as stack:

        def write() -> None:
            writer = stack.enter_context(create_engine(url, poolclass=NullPool).connect())
            writer.execute(insert(Site), row_of(Site.__table__, 1))

        with before_the_lock(write), pytest.raises(DomainError) as error, open_source(config, is_rehearsal=False):
            pass
    assert error.value.message.startswith("The shop runs")


def test_a_source_that_may_not_be_locked_is_named_with_the_reason(url: str, tmp_path: Path) -> None:
    new_shop(tmp_path / "shop", url)
    address = make_url(url).update_query_dict({"options": "-c role=pg_read_all_data"})
    config = config_of(tmp_path / "reader", address.render_as_string(hide_password=False))
    with pytest.raises(DomainError) as error, open_source(config, is_rehearsal=False):
        pass
    assert "The shop's database says: permission denied" in error.value.message


def test_a_target_that_is_in_use_is_named(shop: Config, url: str) -> None:
    make_tables(shop, url)
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as reader:
        reader.execute(select(Site.id))
        with pytest.raises(DomainError) as error:
            copy(shop, url)
    assert "The database to copy to says: canceling statement due to lock timeout" in error.value.message


def test_a_target_of_another_release_is_named(shop: Config, url: str) -> None:
    prepare(shop, url, "UPDATE alembic_version SET version_num = '20261128_05'")
    with pytest.raises(DomainError) as error, open_target(shop, make_url(url), make_tables):
        pass
    assert error.value.message.startswith("The database to copy to is at 20261128_05")

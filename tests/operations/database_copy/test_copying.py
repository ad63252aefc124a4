"""A database is copied whole, to the other kind and back, or nothing of it is."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import delete, func, insert, inspect, make_url, select, text, update

from app.config import Config
from app.domain.catalogue.models import WORDS_INDEX
from app.domain.machines.models import Machine
from app.domain.merchandising.models import Node
from app.domain.pos import journal
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.relevance.models import Synonym
from app.domain.shared.problems import DomainError
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.operations.database_copy.copying import copy_database
from app.operations.database_copy.tables import all_tables
from app.operations.instance import UNFINISHED_RESTORE, claim_folder
from tests.fakes.clock import StoppedClock
from tests.operations.backups.installation import NOW, Installation
from tests.operations.database_copy.every_table import ROWS, row_of
from tests.operations.database_copy.shops import (
    config_of,
    contents,
    copy,
    empty_database,
    full_shop,
    moved,
    new_shop,
    rows_of,
    unchanged,
    written,
)


@pytest.fixture
def other(own_database_url: str, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if own_database_url.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'other.db'}"
    return empty_database(own_database_url)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    full_shop(folder)
    return folder


@pytest.fixture
def shop(model: Path, tmp_path: Path) -> Config:
    """A shop on SQLite that has rows in every table."""
    folder = tmp_path / "shop"
    shutil.copytree(model, folder)
    return config_of(folder)


def back(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'back.db'}"


def refused(config: Config, url: str, words: str, is_rehearsal: bool = False) -> None:
    with pytest.raises(DomainError) as error:
        copy(config, url, is_rehearsal)
    assert words in error.value.message


def test_every_table_has_rows_in_the_shop_that_is_copied(shop: Config) -> None:
    held = contents(shop.database_url)
    assert {name for name, rows in held.items() if len(rows) != ROWS} == set()


def test_a_copy_names_every_table_and_holds_every_row(shop: Config, other: str) -> None:
    before, noted = contents(shop.database_url), {}
    done = copy(shop, other, note=noted.__setitem__)
    assert noted == {name: ROWS for name in db.metadata.tables}
    assert (done.tables, done.rows) == (len(db.metadata.tables), ROWS * len(db.metadata.tables))
    assert unchanged(contents(other)) == unchanged(before)


def test_a_copy_leaves_the_database_of_the_shop_as_it_was(shop: Config, other: str) -> None:
    before = contents(shop.database_url)
    copy(shop, other)
    assert contents(shop.database_url) == before


def test_there_and_back_is_the_same(shop: Config, other: str, tmp_path: Path) -> None:
    there = moved(shop, other, tmp_path / "there")
    copy(there, back(tmp_path))
    assert unchanged(contents(back(tmp_path))) == unchanged(contents(shop.database_url))


def test_a_copy_has_the_schema_of_the_migrations(shop: Config, other: str) -> None:
    copy_database(shop, make_url(other), NOW, False, lambda _name, _rows: None)
    with written(other) as connection:
        newest = connection.scalar(text("SELECT version_num FROM alembic_version"))
        is_of_models = {"include_object": lambda _item, name, *_: name != WORDS_INDEX}
        context = MigrationContext.configure(connection, opts={"compare_type": False, **is_of_models})
        assert compare_metadata(context, db.metadata) == []
        indexes = {index["name"] for index in inspect(connection).get_indexes("products")}
        assert (WORDS_INDEX in indexes) is (connection.dialect.name == "postgresql"), "no model names it"
    with written(shop.database_url) as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == newest


def test_new_records_get_ids_that_none_had(shop: Config, other: str) -> None:
    copy(shop, other)
    with written(other) as connection:
        for table in all_tables():
            row, column = dict(row_of(table, ROWS + 1)), table.autoincrement_column
            if column is None:
                connection.execute(insert(table), row)
                continue
            highest = connection.scalar(select(func.max(column)))
            row.pop(column.name)  # The next one is that to which the new rows of other tables refer.
            made = connection.execute(insert(table), row).inserted_primary_key
            assert made is not None and made[0] == highest + 1, table.name


def test_the_id_of_a_deleted_record_is_not_given_again_in_the_copy(shop: Config, other: str, tmp_path: Path) -> None:
    with written(shop.database_url) as connection:
        newest = connection.scalar(select(Synonym.id).order_by(Synonym.id.desc()).limit(1))
        connection.execute(delete(Synonym).where(Synonym.id == newest))
    there = moved(shop, other, tmp_path / "there")
    copy(there, back(tmp_path))
    for url in (other, back(tmp_path)):
        with written(url) as connection:
            row = {**row_of(Synonym.__table__, ROWS + 1), "site_id": 5}
            row.pop("id")
            made = connection.execute(insert(Synonym), row)
            assert made.inserted_primary_key[0] == newest + 1


def test_rows_of_a_tree_may_come_before_those_above_them(shop: Config, other: str) -> None:
    node = row_of(Node.__table__, 1)
    with written(shop.database_url) as connection:
        for id, parent in ((91, None), (21, 91), (20, 21)):
            connection.execute(
                insert(Node), {**node, "id": id, "parent_id": parent, "path": f"path-{id}", "slug": f"slug-{id}"}
            )
    copy(shop, other)
    with written(other) as connection:
        found = connection.execute(select(Node.id, Node.parent_id).where(Node.id.in_((20, 21, 91))))
        assert set(found) == {(91, None), (21, 91), (20, 21)}


def test_a_journal_verifies_in_the_copy(tmp_path: Path, other: str) -> None:
    installation = Installation(tmp_path / "shop").fill()
    with installation.opened():
        for number in range(5):
            event = MoneyEvent(EntryType.SALE, datetime(2026, 11, 20, tzinfo=UTC), amount=100 + number)
            journal.append(StoppedClock(), 1, event)
        db.session.commit()
        head = journal.head_of(1)
    copy(config_of(tmp_path / "shop"), other)
    with Installation(tmp_path / "there", other).opened():
        assert journal.verify(1, head).is_whole


def test_no_machine_runs_in_the_copy_and_the_activity_log_names_it(shop: Config, other: str) -> None:
    copy(shop, other)
    with written(other) as connection:
        assert {seen_at.year for seen_at in connection.scalars(select(Machine.seen_at))} == {1970}
        entries = connection.execute(
            select(AuditEntry.site_id, AuditEntry.summary).where(AuditEntry.action == "database.copy")
        )
        kind = "PostgreSQL" if other.startswith("postgresql") else "SQLite"
        assert set(entries) == {
            (site_id, f"Copied the database to {kind}") for site_id in connection.scalars(select(Site.id))
        }


def test_a_database_that_has_rows_is_refused_and_left_as_it_is(
    shop: Config, own_database_url: str, tmp_path: Path
) -> None:
    config = new_shop(tmp_path / "taken", empty_database(own_database_url))
    with written(own_database_url) as connection:
        connection.execute(insert(Site), row_of(Site.__table__, 1))
    before = contents(own_database_url)
    words = "There is a file" if own_database_url.startswith("sqlite") else "is not empty (sites)"
    refused(shop, config.database_url, words)
    assert contents(own_database_url) == before


def test_a_copy_that_fails_leaves_nothing_and_the_next_one_works(shop: Config, other: str) -> None:
    def interrupt(name: str, _rows: int) -> None:
        if name == "products":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(shop, other, note=interrupt)
    if other.startswith("sqlite"):
        assert not list(Path(other.removeprefix("sqlite:///")).parent.glob("other.db*"))
    else:
        assert rows_of(other) == 0
    copy(shop, other)
    assert unchanged(contents(other)) == unchanged(contents(shop.database_url))


def test_what_a_killed_copy_left_is_no_obstacle(shop: Config, tmp_path: Path) -> None:
    (tmp_path / "back.db.copying").write_text("half a database")
    (tmp_path / "back.db.copying.lock").touch()
    copy(shop, back(tmp_path))
    assert [path.name for path in tmp_path.glob("back.db*")] == ["back.db"]
    assert (tmp_path / "back.db").stat().st_mode & 0o777 == 0o600


def test_a_second_copy_to_the_same_file_is_refused_and_the_first_is_whole(shop: Config, tmp_path: Path) -> None:
    def begin_another(name: str, _rows: int) -> None:
        if name == "products":
            refused(shop, back(tmp_path), "Another copy to", is_rehearsal=True)

    copy(shop, back(tmp_path), is_rehearsal=True, note=begin_another)
    assert unchanged(contents(back(tmp_path))) == unchanged(contents(shop.database_url))
    assert [path.name for path in tmp_path.glob("back.db*")] == ["back.db"]


def test_a_shop_that_runs_is_refused_but_may_rehearse(shop: Config, other: str) -> None:
    with claim_folder(shop.instance_folder):
        refused(shop, other, "runs already")
        copy(shop, other, is_rehearsal=True)
    assert unchanged(contents(other)) == unchanged(contents(shop.database_url))


def test_a_database_that_somebody_uses_is_refused(own_database_url: str, other: str, tmp_path: Path) -> None:
    url = other if other.startswith("postgresql") else f"sqlite:///{tmp_path / 'shop' / 'shop.db'}"
    config = new_shop(tmp_path / "shop", url)
    with Installation(tmp_path / "shop", url).opened():
        db.session.scalar(select(Site.id))
        refused(config, back(tmp_path), "The shop runs")


def test_a_database_of_another_release_is_refused(shop: Config, other: str) -> None:
    with written(shop.database_url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '20261128_05'"))
    refused(shop, other, "run `db upgrade` before")


def test_a_damaged_database_is_refused_with_the_reason(shop: Config, other: str) -> None:
    file = shop.instance_folder / "shop.db"
    with file.open("r+b") as database:
        database.seek(file.stat().st_size // 2)
        database.write(b"\xff" * (file.stat().st_size // 2))
    refused(shop, other, "A database failed, so nothing was copied")


def test_half_a_restore_is_not_copied(shop: Config, other: str) -> None:
    (shop.instance_folder / UNFINISHED_RESTORE).touch()
    refused(shop, other, "A restore was interrupted")


def test_a_shop_that_was_never_set_up_is_refused(other: str, tmp_path: Path) -> None:
    refused(config_of(tmp_path / "empty"), other, "There is no database")


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x" * 300, "value too long for type character varying(200). It is row 2 by the key, its name"),
        ("a\x00b", "NUL (0x00) bytes. It has the key 6."),
    ],
)
def test_what_postgresql_does_not_take_is_named_by_its_place(shop: Config, other: str, value: str, words: str) -> None:
    with written(shop.database_url) as connection:
        connection.execute(update(Site).where(Site.id == 6).values(name=value))
    with pytest.raises(DomainError) as error:
        copy(shop, other)
    assert words in error.value.message and value not in error.value.message
    assert rows_of(other) == 0


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_row_that_refers_to_none_is_named(shop: Config, other: str) -> None:
    with sqlite3.connect(str(shop.instance_folder / "shop.db")) as database:
        database.execute("UPDATE domains SET site_id = 99 WHERE id = 5")
    refused(shop, other, "A row of domains refers to one of sites that is not there")

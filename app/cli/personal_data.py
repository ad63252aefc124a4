"""`personal-data show`, `personal-data export` and `personal-data erase`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from flask import current_app
from flask.cli import AppGroup

from app.cli.command import REFUSED, chosen_site, command_author, reports_refusals, with_site
from app.config import Config
from app.domain.bundles.archive import BundleFolder
from app.domain.personal_data import export
from app.domain.personal_data.erasure import Erasure, OutsideStores, brought_back, erase, obstacles
from app.domain.personal_data.erasure_list import KEY, copy_erasures
from app.domain.personal_data.people import Person, find_person
from app.domain.shared.author import Author
from app.domain.shared.problems import DomainError, Invalid
from app.domain.sites.sites import all_sites
from app.ports import clock, erasure_lists, erasures, mailer
from app.transaction import transaction

personal_data_group = AppGroup("personal-data", help="What the shop keeps about a person.")
who = click.argument("who", metavar="EMAIL|ORDER")


@personal_data_group.command("show")
@who
@with_site
@reports_refusals
def show_command(who: str, host: str | None) -> None:
    """List what is kept about the person at an email address, or of an order's number, and what erasing does to it."""
    person = find_person(clock(), chosen_site(host).id, who)
    for kept in export.kept_about(person):
        click.echo(f"{kept.holding.title}: {kept.number:,}. {kept.holding.becomes}")
    for obstacle in obstacles(person):
        click.echo(f"Cannot be erased yet: {obstacle.reason}")


@personal_data_group.command("export")
@who
@with_site
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A file, which must not exist yet.")
@reports_refusals
def export_command(who: str, host: str | None, output: Path | None) -> None:
    """Write all of it as JSON, to the standard output or a file that only this user may read."""
    author = command_author(chosen_site(host).id)
    person = find_person(clock(), author.site_id, who)
    if output is None:
        _write(person, lambda piece: click.echo(piece, nl=False))
    else:
        try:
            output.touch(mode=0o600, exist_ok=False)
        except OSError as error:
            raise Invalid.one("output", f"{output} cannot be made: {error.strerror}.") from error
        with output.open("w", encoding="utf-8") as file:
            _write(person, file.write)
    with transaction():
        export.note_export(author, person)


@personal_data_group.command("erase")
@click.argument("who", metavar="[EMAIL|ORDER]", required=False)
@with_site
@click.option("--confirm", help="The same again, instead of typing it when asked.")
@click.option("--again", is_flag=True, help="After a backup was restored: erase everybody anew whom it brought back.")
@reports_refusals
def erase_command(who: str | None, host: str | None, confirm: str | None, again: bool) -> None:
    """Erase a person for good. The exit status is 1 where something that is open postpones it."""
    if again == bool(who):
        raise Invalid.one("person_missing", "Say whom to erase by email address or order number, or --again.")
    if who:
        _erase_one(command_author(chosen_site(host).id), who, confirm)
        return
    sites = [chosen_site(host)] if host else list(all_sites())
    _add_own_list()
    authors = [command_author(site.id) for site in sites]
    if not all([_erase_again(author) for author in authors]):
        raise SystemExit(REFUSED)


def _erase_one(author: Author, who: str, confirm: str | None) -> None:
    person = find_person(clock(), author.site_id, who)
    typed = confirm if confirm is not None else click.prompt(f"This cannot be undone. Type {who} to confirm")
    if typed.strip() != who.strip():
        raise Invalid.one("not_confirmed", "Nothing was erased: what you typed to confirm is something else.")
    erasure = erase(transaction, author, person, _stores())
    _print(erasure)


def _add_own_list() -> None:
    """Add what this machine noted before its list was one that machines share."""
    if erasures().is_shared:
        with _reading_list():
            copy_erasures(erasure_lists()["files"].lines(), erasures())


def _erase_again(author: Author) -> bool:
    """Erase everybody anew whom a backup brought back; return whether all of them were erased."""
    done, left = 0, 0
    for person in _brought_back(author):
        try:
            erasure = erase(transaction, author, person, _stores())
            done += 1
            _warn(erasure)
        except DomainError as refused:
            left += 1
            reasons = [problem.message for problem in refused.problems] if isinstance(refused, Invalid) else []
            click.echo(f"Not erased yet: {' '.join(reasons) or refused.message}", err=True)
    click.echo(f"Erased again: {done:,}, postponed: {left:,}")
    return not left


def _brought_back(author: Author) -> Iterator[Person]:
    with _reading_list():
        found = list(brought_back(_stores(), author))
    yield from found


@contextmanager
def _reading_list() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Invalid.one("list_unreadable", f"The list of erasures cannot be read: {error.strerror}.") from error


def _stores() -> OutsideStores:
    config: Config = current_app.config["SHOP"]
    return OutsideStores(config.key_for(KEY), erasures(), mailer(), BundleFolder(config.bundle_folder))


def _write(person: Person, write: Callable[[str], object]) -> None:
    for piece in export.export(person, clock().now()):
        write(piece)


def _print(erasure: Erasure) -> None:
    for title, number in erasure.records.items():
        click.echo(f"{title}: {number:,}")
    click.echo(f"Other records that named them: {erasure.traces:,}")
    _warn(erasure)


def _warn(erasure: Erasure) -> None:
    if erasure.failure:
        click.echo(f"Some files could not be removed ({erasure.failure}): remove them on the server.", err=True)

"""`pictures resize`."""

from __future__ import annotations

import click
from flask.cli import AppGroup

from app.cli.refusals import reports_refusals
from app.cli.sites import chosen_site, with_site
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.text import numbered
from app.ports import images

group = AppGroup("pictures", help="Uploaded pictures.")


@group.command("resize")
@with_site
@reports_refusals
def resize_command(host: str | None) -> None:
    """Make the smaller forms of pictures that were uploaded before the shop made them. Until then the next larger form
    is sent. It may be broken off and begun again."""
    site_id, store = chosen_site(host).id, images()
    files = [file for file, _ in store.files(site_id)]
    made = [_add_forms(site_id, file) for file in files]
    click.echo(f"{numbered(len(files), 'picture')}, {numbered(sum(made), 'smaller form')} made.")


def _add_forms(site_id: int, file: str) -> int:
    """Make the smaller forms of a picture and return how many; 0 where it was removed meanwhile or cannot be read, so
    that the others are still made."""
    try:
        return images().add_forms(site_id, file)
    except (Invalid, NotFound) as error:
        click.echo(f"{file}: {error.message}", err=True)
        return 0

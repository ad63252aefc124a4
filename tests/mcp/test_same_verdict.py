"""Page, REST and tool give the same verdict on the same inputs: a row for each case, a column for each door."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.mcp import verdicts_on_landing, verdicts_on_rules, verdicts_on_taxonomy, verdicts_on_terms
from tests.mcp.doors import Row, open_shop

SUBJECTS = (verdicts_on_terms, verdicts_on_taxonomy, verdicts_on_rules, verdicts_on_landing)
ROWS = [row for subject in SUBJECTS for row in subject.ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_door_gives_the_same_verdict(app: Flask, row: Row) -> None:
    shop = open_shop(app)
    doors = {name: door for name, door in row.subject.doors.items() if name not in row.without}
    verdicts = {}
    for name, door in doors.items():
        with app.app_context(), transaction():
            thing = row.subject.prepare(db.session.get_one(Site, shop.mia.site_id))
        said = door(shop, thing, row.sent)
        with app.app_context():
            verdicts[name] = (
                said.accepted,
                row.subject.state(thing),
                [words for words in row.says if words in said.words],
            )
    assert verdicts == dict.fromkeys(doors, (row.accepted, row.after, list(row.says)))

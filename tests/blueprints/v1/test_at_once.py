"""Programs that do the same thing at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from flask import Flask

from app.domain.sites.accounts import Role
from tests.blueprints.v1.conftest import ApiClient

TAXONOMIES = "/v1/admin/taxonomies"
AT_ONCE = 8


def test_two_windows_that_refresh_at_once_get_the_same_token(app: Flask, signed_in) -> None:
    program: ApiClient = signed_in()
    windows = [replace(program, client=app.test_client()) for _ in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda window: window.refresh(), windows))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json["refreshToken"] for answer in answers}) == 1
    program.tokens = answers[0].json
    assert program.refresh().status_code == 200


def test_of_programs_that_save_the_same_revision_one_is_first(app: Flask, signed_in) -> None:
    program: ApiClient = signed_in(Role.ADMIN)
    program.call("POST", TAXONOMIES, {"name": "Outdoor"})
    programs = [replace(program, client=app.test_client()) for _ in range(AT_ONCE)]

    def save(numbered: tuple[int, ApiClient]) -> int:
        number, one = numbered
        body = {"revision": 1, "name": f"Outdoor {number}", "rootLevels": []}
        return one.call("PUT", f"{TAXONOMIES}/outdoor/structure", body).status_code

    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = sorted(pool.map(save, enumerate(programs)))
    assert statuses == [200] + [409] * (AT_ONCE - 1)
    assert program.call("GET", f"{TAXONOMIES}/outdoor").json["taxonomy"]["revision"] == 2

from __future__ import annotations

import pytest

from tests.scheduling import TOGETHER, WAITING, shared_by
from tests.surroundings import ROOT


def test_tests_of_a_running_shop_go_to_one_worker():
    file = "tests/operations/supervisor/test_upgrade.py"
    assert shared_by(f"{file}::test_one") == shared_by(f"{file}::test_two[a@b]") == file


def test_two_workers_share_the_browser_tests():
    found = {shared_by(f"tests/e2e/{name}::test[wide]") for name in ("test_taxonomy_editor.py", "test_classifying.py")}
    assert found == {"e2e of taxonomy"}
    assert shared_by("tests/e2e/test_shopper.py::test[phone]") == "e2e of the rest"


def test_any_other_test_goes_to_who_is_free():
    assert shared_by("tests/domain/test_it.py::test[1]") == "tests/domain/test_it.py::test[1]"


@pytest.mark.parametrize("named", [*TOGETHER, *WAITING])
def test_what_is_named_is_there(named: str):
    assert (ROOT / named).is_dir() if named.endswith("/") else (ROOT / named).is_file()

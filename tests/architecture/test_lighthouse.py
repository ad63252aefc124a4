"""What `make e2e` asks of Lighthouse, and what it may leave out."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType
from typing import Any

import pytest

from tests.surroundings import ROOT


@pytest.fixture(scope="module")
def lighthouse() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lighthouse", ROOT / "tools" / "lighthouse.py")
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def report(shift: float = 0.0, **scores: float) -> dict[str, Any]:
    audits = {"image-alt": {"id": "image-alt", "title": "Images have no alt", "score": 0}}
    audits["cumulative-layout-shift"] = {"id": "cls", "title": "", "score": 1, "numericValue": shift}
    weights = [{"id": "image-alt", "weight": 10}, {"id": "cumulative-layout-shift", "weight": 1}]
    whole = {"performance": 0.95, "accessibility": 1, "best-practices": 1, "seo": 1} | scores
    return {"categories": {n: {"score": s, "auditRefs": weights} for n, s in whole.items()}, "audits": audits}


def test_the_version_is_exact_and_what_is_installed_stays_out_of_the_repository(lighthouse: ModuleType) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", lighthouse.VERSION)
    assert f"{lighthouse.FOLDER.name}/" in (ROOT / ".gitignore").read_text().splitlines()


def test_a_page_at_the_limits_passes(lighthouse: ModuleType) -> None:
    assert lighthouse._measured(report(shift=0.02)).misses == []


@pytest.mark.parametrize(
    ("measured", "miss"),
    [
        ({"performance": 0.94}, "performance 94 < 95"),
        ({"accessibility": 0.99}, "accessibility 99 < 100"),
        ({"seo": 0.92}, "seo 92 < 100"),
        ({"shift": 0.021}, "layout shift 0.021 > 0.02"),
    ],
)
def test_a_page_below_a_limit_is_named_with_its_faults(
    lighthouse: ModuleType, measured: dict[str, float], miss: str
) -> None:
    found = lighthouse._measured(report(**measured))
    assert found.misses == [miss]
    assert [fault.partition(":")[0] for fault in found.faults] == ["image-alt"]


def test_only_the_results_of_a_search_and_previews_may_be_closed_to_search_engines(lighthouse: ModuleType) -> None:
    assert lighthouse._left_out("search", {}) == lighthouse._left_out("home", {"Cookie": "x"}) == ["is-crawlable"]
    assert all(lighthouse._left_out(kind, {}) == [] for kind in ("home", "category", "landing", "product"))


def test_a_machine_without_node_says_so_and_goes_on(
    lighthouse: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SHOP_TESTS_REQUIRE_ALL", raising=False)
    monkeypatch.setattr("sys.argv", ["lighthouse"])
    assert lighthouse.main() == 0
    assert "node and npm are not installed" in capsys.readouterr().out
    monkeypatch.setenv("SHOP_TESTS_REQUIRE_ALL", "1")
    assert lighthouse.main() == 1

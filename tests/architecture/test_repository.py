"""The repository stands alone: it installs from hashes and names no machine."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.surroundings import ROOT

LOCKS = sorted(ROOT.glob("requirements*.lock"))
IMPORT_BENCHMARKS = """
import sys
from importlib import import_module
from bench.__main__ import NAMES
sys.modules.update(dict.fromkeys(sys.argv[1:]))
for name in NAMES:
    try:
        import_module(f"bench.{name}")
    except ModuleNotFoundError as missing:
        assert missing.name == "tantivy", f"bench.{name}: {missing}"
"""


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    return listed.stdout.splitlines()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_package_has_a_version_and_hashes_and_no_address(lock) -> None:
    text = lock.read_text()
    assert "://" not in text
    packages = re.split(r"\n(?=\S)", text.strip())
    assert all(re.match(r"[\w.\[\]-]+==\S+.*\\\n    --hash=sha256:", package) for package in packages)


def test_the_locks_agree_on_what_they_share() -> None:
    versions = [dict(re.findall(r"^([\w.\[\]-]+)==(\S+)", lock.read_text(), re.MULTILINE)) for lock in LOCKS]
    for name in set.union(*map(set, versions)):
        assert len({known[name] for known in versions if name in known}) == 1, name


def packages_of(lock: str) -> set[str]:
    return {name.replace("-", "_") for name in re.findall(r"^([\w.-]+)", (ROOT / lock).read_text(), re.MULTILINE)}


def test_benchmarks_need_nothing_that_only_tests_have() -> None:
    """A fresh clone installs requirements-bench.lock alone for them."""
    missing = packages_of("requirements-dev.lock") - packages_of("requirements-bench.lock")
    modules = [
        module
        for module, packages in packages_distributions().items()
        if all(re.sub(r"[-.]", "_", package.lower()) in missing for package in packages)
    ]
    assert {"pytest", "hypothesis"} <= set(modules)
    imported = subprocess.run(
        [sys.executable, "-c", IMPORT_BENCHMARKS, *modules], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert imported.returncode == 0, imported.stderr


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    pattern = re.compile(rb"(?<![\w.])/(?:work|home/\w+|root)/\w")
    named = [
        name
        for name in tracked_files()
        if (ROOT / name).is_file() and pattern.search((ROOT / name).read_bytes()) and "static/vendor" not in name
    ]
    assert named == []


def test_files_that_the_docs_name_are_there() -> None:
    """A decision names code from the package, from the domain, from the blueprints or from the tests."""
    places = [ROOT, ROOT / "app", ROOT / "app/domain", ROOT / "app/blueprints", ROOT / "tests"]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        (page.name, name) for page in pages for name in re.findall(r"`((?:[\w-]+/)+[\w-]+\.py)`", page.read_text())
    }
    assert [pair for pair in sorted(named) if not any((place / pair[1]).is_file() for place in places)] == []


def test_the_map_has_one_row_of_each() -> None:
    """A merge leaves both rows of what two changes described."""
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs" / "map.md").read_text(), re.MULTILINE)
    assert len(rows) > 50 and sorted(set(rows)) == sorted(rows)


def test_targets_of_make_that_the_docs_name_are_there() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]
    named = {(page.name, name) for page in pages for name in re.findall(r"`make ([a-z]\w*)", page.read_text())}
    assert len(named) > 5 and [pair for pair in sorted(named) if pair[1] not in targets] == []


def test_every_decision_has_a_number_of_its_own() -> None:
    pages = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    assert [page.name for page in pages if not page.read_text().startswith(f"# {int(page.name[:4])}. ")] == []


def templates() -> list[Path]:
    return [*(ROOT / "app" / "templates").rglob("*.html"), *(ROOT / "app" / "web" / "themes").rglob("*.html")]


def test_templates_keep_to_the_content_security_policy() -> None:
    """The browser would drop inline scripts, handlers and styles silently."""
    inline = re.compile(
        r"<script(?![^>]*\b(?:src=|type=.application/(?:ld\+)?json))|<style|\sstyle=|\son[a-z]+=|href=.javascript:",
        re.IGNORECASE,
    )
    for template in templates():
        found = inline.search(template.read_text())
        assert not found, f"{template.relative_to(ROOT)}: {found and found.group()}"


def test_a_template_that_is_not_there_is_a_fault_and_no_empty_place() -> None:
    for template in templates():
        assert "ignore missing" not in template.read_text(), template.relative_to(ROOT)

"""Names in the field's terms: private words do not come back, and a class name means one thing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("app", "tests", "bench")
# A private word, and the term of the field to use instead.
PRIVATE_WORDS = {
    "told": "described, label, summary",
    "tell": "describe",
    "telling": "describe",
    "story": "summary, status",
    "asked": "request, query, parameters",
    "ask": "request, query",
    "wish": "outbox entry",
    "wishes": "outbox entries",
    "take_up": "claim",
    "let_go": "release",
    "unfound": "no_results",
    "way_back": "return_to",
    "means": "context",
    "put_back": "revert",
    "putting_back": "revert",
    "undoing": "history, undo",
    "trying": "preview, trial",
    "comparing": "diff",
    "mend": "fix",
    "mending": "fix",
    "losses": "data loss",
    "keeping": "cache",
    "lacking": "missing",
    "unfit": "invalid",
    "whoever": "caller, user, worker",
    "somebody": "caller, user, worker",
    "tally": "aggregate",
    "remediation": "advice",
}
# Names that once meant several things each.
ONE_MEANING = {"Asked", "Kind", "Order", "Report", "Shape", "Told"}


Definition = tuple[str, str, bool]  # The module's path, a name bound in it, and whether it is a top-level class.


@cache
def _definitions() -> tuple[Definition, ...]:
    modules = (module for folder in FOLDERS for module in sorted((ROOT / folder).rglob("*.py")))
    return tuple(definition for module in modules for definition in _of(module))


def _of(module: Path) -> Iterator[Definition]:
    """The names that a module binds. Those of tests are sentences."""
    path, tree = str(module.relative_to(ROOT)), ast.parse(module.read_text())
    yield path, module.stem, False
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield path, node.name, isinstance(node, ast.ClassDef) and node in tree.body
        elif isinstance(node, ast.arg):
            yield path, node.arg, False
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield path, node.id if isinstance(node, ast.Name) else node.attr, False


def _words(name: str) -> str:
    """`TermsTold` and `terms_told` as `_terms_told_`."""
    return f"_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name).lower().strip('_')}_"


@pytest.mark.parametrize("private", PRIVATE_WORDS)
def test_no_module_class_function_or_variable_has_a_private_word_in_its_name(private: str) -> None:
    found = [f"{path}: {name}" for path, name, _ in _definitions() if f"_{private}_" in _words(name)]
    assert found == [], f"the field says {PRIVATE_WORDS[private]}"


def test_a_class_name_means_one_thing() -> None:
    defined = Counter(name for _, name, is_class in _definitions() if is_class and name in ONE_MEANING)
    assert {name for name, times in defined.items() if times > 1} == set()

"""A regular expression of our own ends in \\Z or is matched whole: `$` also fits before a last line end, so that
"a\\n" would pass for "a"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOLLAR_END = re.compile(r".\$(?:\Z|[|)])")


def _patterns_ending_in_a_dollar(tree: ast.AST) -> Iterator[ast.Constant]:
    described = {  # To readers of the API's description, in the regular expressions of ECMA 262, where `$` is the end.
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "pattern"
        for part in ast.walk(value)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and DOLLAR_END.search(node.value) and id(node) not in described:
            yield node


def test_no_pattern_ends_in_a_dollar_sign():
    found = [
        f"{module.relative_to(ROOT)}:{node.lineno}"
        for module in sorted((ROOT / "app").rglob("*.py"))
        for node in _patterns_ending_in_a_dollar(ast.parse(module.read_text()))
    ]
    assert found == []

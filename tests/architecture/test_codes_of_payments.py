"""Every code that a client at a till may meet stands in docs/payments.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = ("app/domain/pos", "app/domain/orders", "app/blueprints/v1")
ERRORS = frozenset({"Conflict", "DomainError", "Forbidden", "NotFound", "Unauthenticated", "Unprocessable"})
OF_THE_STOREFRONT = frozenset({"basket_changed"})  # Its page is shown anew; no API answers so.
CODE = re.compile("[a-z]+(_[a-z]+)+")


def _codes(tree: ast.AST) -> Iterator[str]:
    """Of errors that are raised, and of classes of errors."""
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
            values = node.args
        elif isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["code"]:
            values = [node.value]
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and CODE.fullmatch(value.value):
                yield value.value


def test_every_code_at_the_till_is_documented() -> None:
    files = [file for source in SOURCES for file in Path(source).rglob("*.py")]
    raised = {code for file in files for code in _codes(ast.parse(file.read_text()))}
    page = Path("docs/payments.md").read_text()
    table = page[page.index("## Answers that are no success") : page.index("## When the outcome is not known")]
    documented = set(re.findall(r"^\| \d{3} \| (.+?) \|", table, re.MULTILINE))
    assert len(raised) > 50
    assert raised - OF_THE_STOREFRONT - {code for row in documented for code in re.findall("`([a-z_]+)`", row)} == set()

#!/usr/bin/env python3
"""Print figures about the code: how large files and functions are, and how many helpers serve one caller alone.

`tools/house.py [FOLDER] [--before REVISION]`: FOLDER is `app` by default; with a revision, its figures stand beside.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    path: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return self.text.count("\n")


def read_modules(folder: Path) -> list[Module]:
    paths = sorted(folder.rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    return [Module(str(path), text, ast.parse(text)) for path, text in texts.items() if text.strip()]


def functions_of(module: Module) -> Iterator[Function]:
    return (node for node in ast.walk(module.tree) if isinstance(node, Function))


def lines_of(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def docstring_lines(module: Module) -> int:
    documented = (node for node in ast.walk(module.tree) if isinstance(node, ast.Module | ast.ClassDef | Function))
    return sum(
        (ast.get_docstring(node, clean=False) or "").count("\n") + bool(ast.get_docstring(node)) for node in documented
    )


def private_with_one_caller(modules: list[Module]) -> tuple[int, int]:
    """Return how many private functions there are, and how many of them are named once in their file besides their own
    definition."""
    private = single = 0
    for module in modules:
        named = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        for function in functions_of(module):
            if function.name.startswith("_") and not function.name.startswith("__"):
                private += 1
                single += named[function.name] == 1
    return private, single


def figures(folder: Path) -> dict[str, str]:
    modules = read_modules(folder)
    sizes = [module.lines for module in modules]
    functions = [lines_of(function) for module in modules for function in functions_of(module)]
    private, single = private_with_one_caller(modules)
    return {
        "lines": f"{sum(sizes):,}",
        "files with code": f"{len(sizes):,}",
        "lines of a file, median and maximum": f"{median(sizes):.0f}, {max(sizes)}",
        "files over 400 lines": str(sum(size > 400 for size in sizes)),
        "functions": f"{len(functions):,}",
        "lines of a function, median and maximum": f"{median(functions):.0f}, {max(functions)}",
        "private functions": f"{private:,}",
        "of these with one caller": f"{single:,}",
        "share of docstrings in lines": f"{sum(map(docstring_lines, modules)) / sum(sizes):.1%}",
    }


def figures_of_revision(revision: str, folder: Path) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as place:
        archive = subprocess.run(["git", "archive", revision, str(folder)], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", place], input=archive.stdout, check=True)
        return figures(Path(place) / folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default="app", type=Path)
    parser.add_argument("--before", metavar="REVISION")
    asked = parser.parse_args()
    now = figures(asked.folder)
    before = figures_of_revision(asked.before, asked.folder) if asked.before else {}
    for name, figure in now.items():
        print(f"{name:45}{before.get(name, ''):>14}{figure:>14}")


if __name__ == "__main__":
    main()

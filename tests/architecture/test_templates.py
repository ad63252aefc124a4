"""Templates mirror the blueprints path for path, so that either is found from the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, nodes

from app.web.errors import PASSWORD_FIELDS
from tests.surroundings import ROOT

BLUEPRINTS = ROOT / "app" / "blueprints"
TEMPLATES = ROOT / "app" / "templates"
MODULES = sorted(BLUEPRINTS.rglob("*.py"))
FILES = sorted(TEMPLATES.rglob("*.html"))
SHARED = "macros"  # The one folder without a module: what all pages of a surface draw with.
LONGEST_LINE = 160


def name_of(path: Path, root: Path = TEMPLATES) -> str:
    return path.relative_to(root).as_posix()


def rendered_by(module: Path) -> Iterator[str]:
    """Every template is named in full, so that it can be found by searching for its name."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
            assert not any(".html" in str(part) for part in parts), f"{module}: a template is not named in full"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".html"):
            yield node.value


def drawn_by(template: Path) -> Iterator[str]:
    """The templates that this one extends, includes or imports from."""
    statements = re.findall(r"\{%-? *(?:include|extends|from|import|set|with)\b.*?%\}", template.read_text())
    for statement in statements:
        yield from re.findall(r"[\"']([\w/]+\.html)[\"']", statement)


def test_a_module_renders_from_the_folder_of_its_package_or_its_own() -> None:
    for module in MODULES:
        package = module.parent.relative_to(BLUEPRINTS).as_posix()
        for template in rendered_by(module):
            assert str(Path(template).parent) in (package, f"{package}/{module.stem}"), f"{module}: {template}"


def test_a_folder_of_templates_belongs_to_a_package_or_a_module() -> None:
    for folder in {file.parent for file in FILES} - {TEMPLATES}:
        mirrored = BLUEPRINTS / folder.relative_to(TEMPLATES)
        assert folder.name == SHARED or mirrored.is_dir() or mirrored.with_suffix(".py").is_file(), folder


def test_every_template_is_reached_from_the_code_and_every_name_leads_to_one() -> None:
    known = {name_of(file): file for file in FILES}
    code = [*MODULES, ROOT / "app" / "web" / "errors.py", ROOT / "app" / "web" / "surfaces.py"]
    waiting = {template for module in code for template in rendered_by(module)}
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        assert name in known, f"no template {name}"
        reached.add(name)
        waiting |= set(drawn_by(known[name])) - reached
    assert known.keys() - reached == set()


def test_what_saves_or_deletes_shows_that_it_works() -> None:
    """Buttons for the scripts alone, and those of which a form has several, change the page themselves."""
    tags = [(name_of(file), tag) for file in FILES for tag in re.findall(r"<button\b[^>]*>", file.read_text())]
    weighty = [(name, tag) for name, tag in tags if re.search(r'class="btn[^"]* (primary|danger)"', tag)]
    assert len(weighty) > 20
    answered_elsewhere = ("data-busy=", 'type="button"', 'name="intent"', "formaction=")
    assert [one for one in weighty if not any(sign in one[1] for sign in answered_elsewhere)] == []


def test_no_line_is_too_long_to_read() -> None:
    files = [*FILES, *(ROOT / "app" / "web" / "themes").rglob("*.html")]
    lines = [(file.name, line) for file in files for line in file.read_text().splitlines()]
    assert [(name, line[:60]) for name, line in lines if len(line) > LONGEST_LINE] == []


PASSWORD_FIELD = re.compile(r'field\("(\w+)"(?:(?!field\().)*?type="password"', re.DOTALL)


def test_an_error_page_that_repeats_a_form_leaves_out_every_password() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    named = {name for text in texts for name in PASSWORD_FIELD.findall(text)}
    assert named == set(PASSWORD_FIELDS)
    assert sum(text.count('type="password"') for text in texts) == sum(
        len(PASSWORD_FIELD.findall(text)) for text in texts
    )


def test_a_template_imports_only_macros_that_it_or_what_it_includes_calls() -> None:
    sources = {name_of(file): Environment(extensions=["jinja2.ext.do"]).parse(file.read_text()) for file in FILES}
    mentioned = {name: {found.name for found in tree.find_all(nodes.Name)} for name, tree in sources.items()}

    def read_with(name: str) -> set[str]:
        """The names that the template reads, and those it includes, which see its imports."""
        included = (node.template for node in sources[name].find_all(nodes.Include))
        below = [read_with(part.value) for part in included if isinstance(part, nodes.Const) and part.value in sources]
        return mentioned[name].union(*below)

    for name, tree in sources.items():
        imported = {
            part if isinstance(part, str) else part[1]
            for node in tree.find_all(nodes.FromImport)
            for part in node.names
        }
        assert imported <= read_with(name), f"{name}: imports {imported - read_with(name)}, which it never calls"

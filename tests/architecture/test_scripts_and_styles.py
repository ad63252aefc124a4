"""Scripts are modules that name what they need, and style sheets keep to one order of layers."""

import re
from pathlib import Path

from app.web.themes import drawing
from tests.surroundings import ROOT

STATIC = ROOT / "app" / "static"
SCRIPTS = {file: file.read_text() for file in STATIC.rglob("*.js") if "vendor" not in file.parts}
STYLES = {file: file.read_text() for surface in ("admin", "till") for file in (STATIC / surface).rglob("*.css")}
TEMPLATES = "\n".join(file.read_text() for file in (ROOT / "app" / "templates").rglob("*.html"))
IMPORT = re.compile(r'^(?:im|ex)port (?:(\w+|\* as \w+|\{[^}]*\}) from )?"(\.[^"]+)";', re.MULTILINE)
IMPORT_LATER = re.compile(r'\bimport\("(\.[^"]+)"\)')
EXPORT = re.compile(r"^export (?:const|(?:async )?function|let|class) (\w+)", re.MULTILINE)
EXPORT_OF_OTHERS = re.compile(r"^export \{([^}]*)\}", re.MULTILINE)
VENDOR = STATIC / "vendor"
WORKERS = {STATIC / "till" / "worker.js"}  # Served by a view, which puts its list of files before it.


def imports_of(script: Path) -> list[tuple[str, Path]]:
    """The scripts of ours that one imports, with the names, also those that it imports later."""
    text = SCRIPTS[script]
    found = [*IMPORT.findall(text), *(("", path) for path in IMPORT_LATER.findall(text))]
    imported = [(names, (script.parent / path).resolve()) for names, path in found]
    vendored = [path for _, path in imported if VENDOR in path.parents]
    assert all(path.is_file() for path in vendored), f"{script}: {vendored}"
    return [(names, path) for names, path in imported if path not in vendored]


def exports_of(script: Path) -> set[str]:
    text = SCRIPTS[script]
    return {*EXPORT.findall(text), *re.findall(r"\w+", " ".join(EXPORT_OF_OTHERS.findall(text)))}


def test_every_import_leads_to_a_script_that_exports_what_is_named() -> None:
    for script in SCRIPTS:
        for names, imported in imports_of(script):
            assert imported in SCRIPTS, f"{script}: {imported}"
            wanted = {name.split(" as ")[0].strip() for name in names.strip("{} ").split(",")} - {""}
            missing = wanted - exports_of(imported) if names.startswith("{") else set()
            assert not missing, f"{script}: {missing}"


def test_what_a_script_of_the_till_exports_is_imported_by_another_or_by_a_test() -> None:
    words = re.compile(r"\w+")
    used = {script: set[str]() for script in SCRIPTS}
    for script, text in SCRIPTS.items():
        for names, imported in imports_of(script):  # Of a whole module, as of one that is imported later, any word is.
            used[imported] |= set(words.findall(names if names.startswith("{") else text))
    tested = set(words.findall("\n".join(file.read_text() for file in (ROOT / "tests").rglob("*.py"))))
    for script in (script for script in SCRIPTS if STATIC / "till" in script.parents):
        assert not (unused := exports_of(script) - used[script] - tested), f"{script}: {unused}"


def test_scripts_share_nothing_but_their_exports() -> None:
    for script, text in SCRIPTS.items():
        assert not re.search(r"\bwindow\.\w+ = |\bglobalThis\b", text), script
        assert script.name == "htmx.js" or "htmx" not in re.findall(r"\bwindow\.(\w+)", text), script
    tags = re.findall(r"<script[^>]*static_url[^>]*>", TEMPLATES)
    assert all("vendor/" in tag or 'type="module"' in tag for tag in tags)


def test_every_script_is_reached_from_a_page() -> None:
    waiting = {STATIC / name for name in [*drawing.ISLANDS, *re.findall(r"static_url\('([\w/]+\.js)'\)", TEMPLATES)]}
    waiting |= WORKERS
    reached: set[Path] = set()
    while waiting:
        script = waiting.pop()
        reached.add(script)
        waiting |= {imported for _, imported in imports_of(script)} - reached
    assert reached == SCRIPTS.keys()


def test_scripts_of_the_storefront_stand_alone_since_they_are_put_together_as_they_are() -> None:
    """And every one of them is in the one script of its pages, every style sheet in theirs."""
    ours = {file.relative_to(STATIC).as_posix() for file in (STATIC / "storefront").iterdir()}
    assert {name for name in ours if name.endswith(".js")} == set(drawing.ISLANDS)
    assert {name for name in ours if name.endswith(".css")} == set(drawing.STYLES)
    islands = [SCRIPTS[STATIC / name] for name in drawing.ISLANDS]
    assert not any(re.search(r"^\s*(?:import|export)\b", text, re.MULTILINE) for text in islands)
    assert all((STATIC / name).is_file() for name in drawing.LIBRARIES)


def test_every_rule_of_the_admin_stands_in_a_layer_whose_place_is_declared_once() -> None:
    declared = [order for text in STYLES.values() for order in re.findall(r"^@layer ([\w, ]+);", text, re.MULTILINE)]
    assert len(declared) == 1
    for style, text in STYLES.items():
        opened = re.findall(r"^(\S.*)\{$", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), re.MULTILINE)
        assert {rule.strip() for rule in opened} <= {f"@layer {name}" for name in declared[0].split(", ")}, style

"""The folders that are themes, read once as the application is made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateSyntaxError

from app.domain.shared import strict_json
from app.domain.shared.problems import Invalid
from app.domain.shared.schema import Record, Text

BUILT_IN = Path(__file__).parent
DEFAULT = "market"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
LONGEST_NAME = 40
LONGEST_LABEL = 60
FACTS = Record(label=Text(required=True), cardSizes=Text(), pictureSizes=Text())


class UnusableTheme(Exception):
    """The folder is no theme that can be shown; the message says why."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme of the storefront. `name` is that of its folder, `label` how the admin names it. `card_sizes` and
    `picture_sizes` say how wide the pictures of cards and of a product's page are shown, as the attribute `sizes` of
    HTML does."""

    name: str
    label: str
    folder: Path
    card_sizes: str = "(min-width: 60rem) 20rem, 50vw"
    picture_sizes: str = "(min-width: 60rem) 45rem, 100vw"

    @property
    def templates(self) -> Path:
        return self.folder / "templates"

    @property
    def style(self) -> Path:
        return self.folder / "theme.css"

    @property
    def files(self) -> Path:
        """The folder of what its style sheet refers to: fonts and pictures."""
        return self.folder / "files"


@dataclass(frozen=True, slots=True)
class FoundThemes:
    """The themes that were found. `problems` has the reason for each folder that cannot be shown, by its name."""

    by_name: Mapping[str, Theme]
    problems: Mapping[str, str]

    @property
    def default(self) -> Theme:
        return self.by_name[DEFAULT]

    def named(self, name: str) -> Theme:
        """The theme of this name, the default where there is none."""
        return self.by_name.get(name, self.default)


def find_themes(own: Path | None = None) -> FoundThemes:
    """The themes that come with the shop, and those in the folder `own`, which win where both have a name."""
    found: dict[str, Theme] = {}
    problems: dict[str, str] = {}
    for folder in (*_folders(BUILT_IN), *(_folders(own) if own else ())):
        try:
            found[folder.name] = _read(folder)
        except UnusableTheme as unusable:
            problems[folder.name] = str(unusable)
    return FoundThemes(found, problems)


def _folders(parent: Path) -> Iterator[Path]:
    if parent.is_dir():
        yield from (folder for folder in sorted(parent.iterdir()) if (folder / "theme.json").is_file())


def _read(folder: Path) -> Theme:
    """Read the theme in a folder. Raises UnusableTheme."""
    if not NAME.fullmatch(folder.name) or len(folder.name) > LONGEST_NAME:
        raise UnusableTheme("Its folder must be named with lower-case letters, digits and single hyphens.")
    facts = _facts(folder / "theme.json")
    _check_style(folder / "theme.css")
    _check_templates(folder / "templates")
    sizes = {"card_sizes": facts.get("cardSizes"), "picture_sizes": facts.get("pictureSizes")}
    return Theme(folder.name, facts["label"], folder, **{name: size for name, size in sizes.items() if size})


def _facts(file: Path) -> dict[str, Any]:
    """Return the known fields of a theme.json; others are ignored. Raises UnusableTheme."""
    try:
        sent = strict_json.loads(file.read_text(encoding="utf-8"))
        known = {name: sent[name] for name in FACTS.fields if name in sent} if isinstance(sent, dict) else sent
        facts = FACTS.load(known)
    except (OSError, ValueError):
        raise UnusableTheme("Its theme.json cannot be read as JSON.") from None
    except Invalid as error:
        raise UnusableTheme(f"Its theme.json: {' '.join(problem.message for problem in error.problems)}") from None
    if not 0 < len(facts["label"]) <= LONGEST_LABEL:
        raise UnusableTheme(f"Its theme.json must have a label of at most {LONGEST_LABEL} characters.")
    return facts


def _check_style(file: Path) -> None:
    """Check the style sheet of a theme. Raises UnusableTheme."""
    if not file.is_file():
        raise UnusableTheme("It has no theme.css.")
    try:
        file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UnusableTheme("Its theme.css cannot be read as UTF-8.") from None


def _check_templates(folder: Path) -> None:
    """Check the templates of a theme. Raises UnusableTheme for one that cannot be read: shoppers would meet it as an
    error."""
    for file in sorted(folder.rglob("*.html")):
        name = file.relative_to(folder).as_posix()
        try:
            Environment().parse(file.read_text(encoding="utf-8"))
        except TemplateSyntaxError as error:
            raise UnusableTheme(f"Line {error.lineno} of its template {name} cannot be read.") from None
        except (OSError, ValueError):
            raise UnusableTheme(f"Its template {name} cannot be read.") from None

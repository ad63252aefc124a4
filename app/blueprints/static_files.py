"""Static files at an address with their version, which browsers keep for good.

The version stands in the path and not in the query, so that what a script imports and a style sheet refers to by a
relative address has it too."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from flask import Blueprint, Response, current_app
from flask.blueprints import BlueprintSetupState

from app.blueprints.compression import compressed, once
from app.web.permissions import public

bp = Blueprint("static_files", __name__)
IMMUTABLE = "public, max-age=31536000, immutable"
IMPORT = re.compile(r'^import (?:[^"]+ from )?"(\.[^"]+)";', re.MULTILINE)


@bp.record
def prepare(state: BlueprintSetupState) -> None:
    """Read the files once as the application is made, so that no visitor waits for it."""
    _version(Path(state.app.static_folder or ""))


@bp.get("/static/v-<version>/<path:filename>")
@public
def versioned(version: str, filename: str) -> Response:
    """Return the current file. In production browsers keep it for good, but only under its current version: a page from
    before an upgrade gets it, too. In development files change while the process runs."""
    response = compressed(current_app.send_static_file(filename), once)
    if version == _version(_folder()) and current_app.config["SHOP"].production:
        response.headers["Cache-Control"] = IMMUTABLE
    return response


@bp.app_template_global("static_url")
def static_url(filename: str) -> str:
    """Return the address of a static file with the version of all of them: they import each other, so they change
    together. Raises FileNotFoundError."""
    if filename not in _files(_folder()):
        raise FileNotFoundError(filename)
    return f"/static/v-{_version(_folder())}/{filename}"


@bp.app_template_global("static_imports")
def static_imports(address: str) -> list[str]:
    """The addresses of all scripts that the module at this address imports, directly or not. A page names them, so that
    browsers fetch them at once and not one after the other as they come upon them."""
    entry = address.partition("/v-")[2].partition("/")[2]
    return [static_url(name) for name in _imports(_folder(), entry)]


def _folder() -> Path:
    return Path(current_app.static_folder or "")


@lru_cache
def _files(folder: Path) -> frozenset[str]:
    return frozenset(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


@lru_cache
def _imports(folder: Path, entry: str) -> tuple[str, ...]:
    found = [(folder / entry).resolve()]
    for script in found:
        imported = [(script.parent / name).resolve() for name in IMPORT.findall(script.read_text())]
        found += [module for module in dict.fromkeys(imported) if module not in found]
    return tuple(module.relative_to(folder.resolve()).as_posix() for module in found[1:])


@lru_cache
def _version(folder: Path) -> str:
    """A digest of all names and contents, the same in every process of a release."""
    digest = hashlib.sha256()
    for name in sorted(_files(folder)):
        digest.update(name.encode() + b"\0" + hashlib.sha256((folder / name).read_bytes()).digest())
    return digest.hexdigest()[:12]

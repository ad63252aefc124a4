"""The release that the parts run. Its folder may be a link, such as /opt/shop/current, which leads to another release
after an upgrade: it is resolved once for all parts, so that none of them mixes two."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.config import LISTENER, MEMORY, Config
from app.operations.instance import CannotStart
from app.supervisor.parts import Part

FOLDER = Path(__file__).absolute().parents[2]  # With its links unresolved: they may lead elsewhere later.
PYTHON = Path(sys.executable)
WITHOUT_SURFACES = "app:create_app(surfaces=False)"


@dataclass(frozen=True, slots=True)
class Release:
    folder: Path
    python: str
    environment: Mapping[str, str]

    def web_servers(self, config: Config, listener: int, memory: int) -> list[Part]:
        environment = {**self.environment, LISTENER: str(listener), MEMORY: str(memory)}
        command, handed_over = [self.python, "-m", "app.web_server"], [listener, memory]
        numbers = range(1, config.web_workers + 1)
        return [Part(f"web server {number}", command, environment, handed_over, reports=True) for number in numbers]

    def others(self, mcp_listener: int | None, memory: int) -> list[Part]:
        worker, flask = str(self.folder / "worker.py"), ("-m", "flask", "--app", WITHOUT_SURFACES)
        parts = [
            Part("worker", [self.python, worker, "default"], self.environment),
            Part("rebuild worker", [self.python, worker, "builds"], self.environment),
            Part("scheduler", [self.python, *flask, "scheduler"], self.environment),
        ]
        if mcp_listener is not None:
            command = [self.python, "-m", "app.mcp", "--fd", str(mcp_listener)]
            environment = {**self.environment, MEMORY: str(memory)}
            parts.append(Part("MCP server", command, environment, [mcp_listener, memory]))
        return parts

    def preparation(self, *options: str) -> Part:
        return Part("preparation", [self.python, "-m", "app.supervisor.preparation", *options], self.environment)


def current_release() -> Release:
    """Return the release that is in place now. Raises CannotStart where its link leads to itself."""
    try:
        folder = FOLDER.resolve()
        # The program itself may be a link out of the environment, which Python finds by the folder it is called in.
        python = PYTHON.parent.resolve() / PYTHON.name
    except RuntimeError as error:
        raise CannotStart(f"The link {FOLDER} leads in a circle: let it lead to a release.") from error
    return Release(folder, str(python), {**os.environ, "PYTHONPATH": str(folder)})

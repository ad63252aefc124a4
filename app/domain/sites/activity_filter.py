"""The filter of the activity log that a page's address holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from urllib.parse import urlencode

from app.domain.shared.address_values import day_in, id_in, reversed_days
from app.domain.shared.author import Origin
from app.domain.shared.problems import Problem

LONGEST_WORDS = 200
BY_ITSELF = "shop"  # The origin of what the shop did by itself.
ORIGINS = {
    Origin.ADMIN.value: "Admin pages",
    Origin.API.value: "API",
    Origin.COMMAND_LINE.value: "Command line",
    Origin.MCP.value: "MCP",
    BY_ITSELF: "The shop itself",
}


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """A filter of the activity log, and a place in it. Days are those of the shop's time zone, both included. `before`
    and `after` are the ids of entries: a page lies before the one or after the other. An invalid value filters nothing
    and is named in `problems`."""

    words: str = ""
    who: str = ""
    action: str = ""
    thing: str = ""
    thing_id: str = ""
    origin: str = ""
    first: date | None = None
    last: date | None = None
    before: int | None = None
    after: int | None = None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> ActivityFilter:
        first, last = day_in(parameters.get("from")), day_in(parameters.get("to"))
        origin = next((origin for origin in ORIGINS if origin.lower() == parameters.get("origin", "").lower()), "")
        read = {"from": first, "to": last, "origin": origin, "before": id_in(parameters.get("before"))}
        read["after"] = id_in(parameters.get("after"))
        return cls(
            words=_text(parameters.get("q")),
            who=_text(parameters.get("who")),
            action=_text(parameters.get("action")),
            thing=_text(parameters.get("thing")),
            thing_id=_text(parameters.get("id")),
            origin=origin,
            first=first,
            last=last,
            before=id_in(parameters.get("before")),
            after=id_in(parameters.get("after")),
            problems=(*_unreadable(parameters, read), *reversed_days(first, last)),
        )

    @property
    def is_filtered(self) -> bool:
        return replace(self, before=None, after=None, problems=()) != ActivityFilter()

    def query(self, **changes: object) -> str:
        """Return the query string of this filter with changes, at the first page unless they name another."""
        changed = replace(self, **{"before": None, "after": None, **changes})  # type: ignore[arg-type]
        parameters = {
            "q": changed.words,
            "who": changed.who,
            "action": changed.action,
            "thing": changed.thing,
            "id": changed.thing_id,
            "origin": changed.origin.lower(),
            "from": changed.first,
            "to": changed.last,
            "before": changed.before,
            "after": changed.after,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


def _unreadable(parameters: Mapping[str, str], read: Mapping[str, object]) -> Iterator[Problem]:
    labels = {"from": "From", "to": "To", "origin": "Origin", "before": "Page", "after": "Page"}
    for name, value in read.items():
        if not value and (text := parameters.get(name, "")):
            yield Problem("invalid_filter", f"{labels[name]}: “{text[:40]}” cannot be looked for.", f"#/{name}")


def _text(value: str | None) -> str:
    return " ".join((value or "")[:LONGEST_WORDS].replace("\0", "").split())

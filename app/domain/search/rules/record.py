"""A rule as JSON carries it (contracts: Rules), and as it is stored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from app.domain.search.live.models import SearchRule
from app.domain.search.live.served import PinnedSku
from app.domain.search.rules.rule import RuleDraft
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.shapes import Field, Kind, Shape, read_fields
from app.domain.shared.times import rfc3339

RULE: Shape = {
    "term": Field(Kind.TEXT, required=True),
    "pins": Field(Kind.LIST),
    "boosts": Field(Kind.TEXTS),
    "buries": Field(Kind.TEXTS),
    "redirectUrl": Field(Kind.TEXT, nullable=True),
    "banner": Field(Kind.OBJECT, nullable=True),
    "enabled": Field(Kind.FLAG),
    "startsAt": Field(Kind.TEXT, nullable=True),
    "endsAt": Field(Kind.TEXT, nullable=True),
    "note": Field(Kind.TEXT, nullable=True),
}
PIN: Shape = {"sku": Field(Kind.TEXT, required=True), "position": Field(Kind.WHOLE, required=True)}
BANNER: Shape = {"text": Field(Kind.TEXT, required=True), "linkUrl": Field(Kind.TEXT, nullable=True)}
YEARS = range(2000, 2200)  # Every time zone and database knows their moments.
MOST_READ = 1_000  # Of a list in a rule; one that is longer is refused for its length alone.


def draft_of_json(raw: object, pointer: str = "#") -> RuleDraft:
    """What a field does not say is as in a new rule. Raises Invalid with every field of the wrong type."""
    problems: list[Problem] = []
    fields = read_fields(raw, RULE, pointer, problems)
    banner = fields.get("banner")
    said = read_fields(banner, BANNER, f"{pointer}/banner", problems) if banner is not None else {}
    draft = RuleDraft(
        term=fields.get("term", ""),
        pins=_pins(fields.get("pins", []), f"{pointer}/pins", problems),
        boosts=tuple(fields.get("boosts", ())),
        buries=tuple(fields.get("buries", ())),
        redirect_url=fields.get("redirectUrl"),
        banner_text=said.get("text"),
        banner_link_url=said.get("linkUrl"),
        enabled=fields.get("enabled", True),
        starts_at=_moment(fields.get("startsAt"), f"{pointer}/startsAt", problems),
        ends_at=_moment(fields.get("endsAt"), f"{pointer}/endsAt", problems),
        note=fields.get("note") or "",
    )
    if problems:
        raise Invalid(problems)
    return draft


def _pins(raw: list[Any], pointer: str, problems: list[Problem]) -> tuple[PinnedSku, ...]:
    if len(raw) > MOST_READ:
        problems.append(Problem("too_many", "Too many products are pinned in one rule.", pointer))
        return ()
    read = [read_fields(pin, PIN, f"{pointer}/{index}", problems) for index, pin in enumerate(raw)]
    return tuple(PinnedSku(pin["sku"], pin["position"]) for pin in read if len(pin) == len(PIN))


def _moment(text: str | None, pointer: str, problems: list[Problem]) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None and moment.year in YEARS:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    message = f"“{text[:40]}” is not a time such as 2026-11-20T21:04:05Z."
    problems.append(Problem("invalid_time", message, pointer))
    return None


def json_of_draft(draft: RuleDraft) -> dict[str, Any]:
    """What `draft_of_json` reads: a rule without what the database gives it."""
    banner = {"text": draft.banner_text, "linkUrl": draft.banner_link_url} if draft.banner_text else None
    return {
        "term": draft.term,
        "pins": [{"sku": pin.sku, "position": pin.position} for pin in draft.pins],
        "boosts": list(draft.boosts),
        "buries": list(draft.buries),
        "redirectUrl": draft.redirect_url,
        "banner": banner,
        "enabled": draft.enabled,
        "startsAt": rfc3339(draft.starts_at) if draft.starts_at else None,
        "endsAt": rfc3339(draft.ends_at) if draft.ends_at else None,
        "note": draft.note,
    }


def draft_of(rule: SearchRule) -> RuleDraft:
    """The stored rule in the form in which people send it."""
    return RuleDraft(
        term=rule.term,
        pins=tuple(PinnedSku(pin["sku"], pin["position"]) for pin in rule.pins),
        boosts=tuple(rule.boosts),
        buries=tuple(rule.buries),
        redirect_url=rule.redirect_url,
        banner_text=rule.banner_text,
        banner_link_url=rule.banner_link_url,
        enabled=rule.enabled,
        starts_at=rule.starts_at,
        ends_at=rule.ends_at,
        note=rule.note,
    )


def as_json(rule: SearchRule, synced: bool) -> dict[str, Any]:
    """A stored rule; `synced` says whether shoppers are served it as it is."""
    head = {"id": str(rule.id), "term": rule.term, "normalizedTerm": rule.normalized_term}
    tail = {"synced": synced, "revision": rule.revision, "updatedBy": rule.updated_by}
    return head | json_of_draft(draft_of(rule)) | tail | {"updatedAt": rfc3339(rule.updated_at)}

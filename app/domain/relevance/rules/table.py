"""Rules as a table, one a line: products as `SKU`, or `position:SKU` for pins, separated by semicolons. Pure."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from app.domain.relevance.rules.rule import MOST_RULES
from app.domain.relevance.rules.summary import effects
from app.domain.search.serving.rules import RULE, Rule
from app.domain.shared.problems import Invalid
from app.domain.shared.table_import import check_cells, read_named
from app.domain.shared.text import one_line

NAMES = (
    *("term", "pins", "boosts", "buries", "redirectUrl", "bannerText", "bannerLinkUrl"),
    *("enabled", "startsAt", "endsAt", "note"),
)
COLUMNS = {name.casefold(): name for name in NAMES}
YES = frozenset(("", "yes", "true", "1"))
NO = frozenset(("no", "false", "0"))
Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule as the page of an import shows it."""

    rule: Rule

    def __str__(self) -> str:
        return f"{self.rule.term}: {', '.join(effects(self.rule)) or 'no effect'}"


def rows_of(rules: Iterable[Rule]) -> Iterator[Sequence[str]]:
    yield NAMES
    for rule in rules:
        yield _row(rule)


def _row(rule: Rule) -> Sequence[str]:
    fields, banner = rule.as_json(), rule.banner
    pins = [f"{pin.position}:{pin.sku}" for pin in rule.pins]
    texts = (fields["redirectUrl"], banner and banner.text, banner and banner.link_url)
    times = (fields["startsAt"], fields["endsAt"])
    lists = (_joined(skus) for skus in (pins, rule.boosts, rule.buries))
    plain = (text or "" for text in texts)
    return rule.term, *lists, *plain, "yes" if rule.enabled else "no", *(time or "" for time in times), rule.note


def read_table(text: str) -> list[tuple[int, Cells]]:
    """Return the number and the cells, by column, of each line. Raises Invalid for a text that is no table of rules."""
    return [*read_named(text, COLUMNS, ("term",), "rules", MOST_RULES)]


def rule_of(cells: Cells, stored: Rule | None = None) -> Rule:
    """Return the rule of a line; fields without a column stay as in `stored`. Raises Invalid."""
    check_cells(cells)
    fields = (stored.as_json() if stored else {}) | {"term": one_line(cells.get("term", ""))}
    fields |= {name: _split(cells[name]) for name in ("boosts", "buries") if name in cells}
    if "pins" in cells:
        fields["pins"] = [_pin(pin) for pin in _split(cells["pins"])]
    fields |= {name: one_line(cells[name]) or None for name in ("redirectUrl", "startsAt", "endsAt") if name in cells}
    if "note" in cells:
        fields["note"] = cells["note"]
    if "enabled" in cells:
        fields["enabled"] = _flag(one_line(cells["enabled"]))
    return Rule.of_json(RULE.load(fields | _banner(cells, fields.get("banner"))))


def _banner(cells: Cells, stored: Mapping[str, Any] | None) -> dict[str, Any]:
    before = stored or {}
    text = one_line(cells.get("bannerText", before.get("text") or ""))
    link = one_line(cells.get("bannerLinkUrl", before.get("linkUrl") or ""))
    return {"banner": {"text": text, "linkUrl": link or None} if text or link else None}


def _pin(text: str) -> dict[str, Any]:
    position, colon, sku = text.partition(":")
    if not colon or not position.strip().isdecimal() or len(position) > 6:
        raise Invalid.one("invalid_position", f"“{text[:64]}” is no pin: write its place and its SKU, as in 1:COAT-2.")
    return {"sku": sku.strip(), "position": int(position)}


def _flag(text: str) -> bool:
    if text.casefold() not in YES | NO:
        raise Invalid.one("invalid_flag", f"“{text[:40]}” under enabled must be yes or no.")
    return text.casefold() in YES


def _joined(skus: Iterable[str]) -> str:
    """Return SKUs with semicolons between; one that has a semicolon of its own is in quotation marks."""
    made = StringIO()
    csv.writer(made, delimiter=";", lineterminator="").writerow(skus)
    return made.getvalue()


def _split(text: str) -> list[str]:
    parts = next(csv.reader([one_line(text)], delimiter=";"), [])
    return [sku.strip() for sku in parts if sku.strip()]

"""The report of a task, and its summary for pages. Pure.

A report is gathered batch by batch in the form in which it is stored: `changed`, `unchanged` and `skipped` count
products; `dropped` and `replaced` count, by attribute id, the products that lost a value or got another; `lost` holds
those values themselves for the first products, so that a mistake can be fixed; `names` has the attributes' names. A key
is there once there is something to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.domain.shared.text import numbered
from app.domain.taxonomy.models import Kind, TaxonomyTask
from app.domain.taxonomy.tasks.befores import can_be_undone, is_too_large
from app.domain.work.progress import WorkSummary

Report = dict[str, Any]
MOST_LISTED = 100  # Products whose lost values are kept.
LONGEST_LISTED = 1_000  # Characters of a lost value that are kept.
TITLES: Mapping[Kind, str] = {
    Kind.RECOMPUTE: "Working out how complete products are",
    Kind.RENAME_VALUES: "Renaming values on products",
    Kind.ASSIGN_LEVEL: "Moving products to another level",
    Kind.ASSIGN_VALUE: "Changing a value on products",
    Kind.RESTORE: "Restoring archived classifications",
    Kind.UNDO: "Undoing a change of products",
}
STAYED = "Values that stay in the archive"
LOST = "Values that products lost"
REPLACED = "Values that were replaced"


def add_count(report: Report, name: str, products: int = 1) -> None:
    if products:
        report[name] = report.get(name, 0) + products


def note_loss(
    report: Report, kind: str, product: tuple[int, str], values: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    """Note that a product, given as (id, SKU), lost these values. `kind` is `dropped` or `replaced`."""
    if not values:
        return
    counts = report.setdefault(kind, {})
    for attribute_id in values:
        counts[attribute_id] = counts.get(attribute_id, 0) + 1
        report.setdefault("names", {}).setdefault(attribute_id, names.get(attribute_id, attribute_id))
    listed = report.setdefault("lost", [])
    if len(listed) < MOST_LISTED:
        product_id, sku = product
        lost = {
            attribute_id: value[:LONGEST_LISTED] if isinstance(value, str) else value
            for attribute_id, value in values.items()
        }
        listed.append({"productId": product_id, "sku": sku, "values": lost})


@dataclass(frozen=True, slots=True)
class Loss:
    """The values of an attribute that a task took from products. `products` lost one, or have another in its place:
    `happened` says which. `examples` are the first: SKU and value."""

    attribute_id: str
    name: str
    products: int
    happened: str
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TaskSummary(WorkSummary):
    """A task as templates show it. `products_query` narrows the list of products to those that the task is about, ""
    where there is no such list; `products_link` is the text of a link to it. `keeps_lost`: what products lost is in the
    activity log; what stays in the archive is not lost. `is_too_large`: it would be undone if it were smaller."""

    title: str
    summary: str
    data_loss: tuple[Loss, ...]
    data_loss_title: str
    keeps_lost: bool
    products_query: str
    products_link: str
    can_be_undone: bool
    is_too_large: bool

    @property
    def progress(self) -> str:
        if self.total is None:
            return "Counting the products…"
        return f"{self.done:,} of {numbered_products(self.total)}"


def summary_of(task: TaxonomyTask, is_unanswered: bool = False) -> TaskSummary:
    kind = kind_of(task)
    counts = _Counts.of(task)
    return TaskSummary(
        **TaskSummary.fields_of(task, is_unanswered),
        title=title_of(task),
        summary=_DESCRIPTIONS[kind](task.parameters, counts) if kind else f"Dealt with {numbered_products(task.done)}.",
        data_loss=tuple(_data_loss(kind, task)),
        data_loss_title=_data_loss_title(kind, task),
        keeps_lost=kind is not Kind.RESTORE,
        products_query=_products_query(kind, task.parameters),
        products_link=_LINKS.get(kind, "") if kind else "",
        can_be_undone=can_be_undone(task),
        is_too_large=is_too_large(task),
    )


def kind_of(task: TaxonomyTask) -> Kind | None:
    """Return the kind of a task, None for one that this version of the shop does not know: a newer one created it."""
    return Kind(task.kind) if task.kind in TITLES else None


def title_of(task: TaxonomyTask) -> str:
    kind = kind_of(task)
    return TITLES[kind] if kind else f"Work of the kind {task.kind}"


def numbered_products(count: int) -> str:
    return numbered(count, "product")


@dataclass(frozen=True, slots=True)
class _Counts:
    done: int
    changed: int
    unchanged: int
    skipped: int

    @classmethod
    def of(cls, task: TaxonomyTask) -> _Counts:
        return cls(task.done, *(task.report.get(name, 0) for name in ("changed", "unchanged", "skipped")))


def _describe_recompute(_parameters: Mapping[str, Any], counts: _Counts) -> str:
    if not counts.changed:
        return f"Looked at {numbered_products(counts.done)}: all are as complete as was known."
    return f"Looked at {numbered_products(counts.done)}: the completeness of {counts.changed:,} is another now."


def _describe_renames(_parameters: Mapping[str, Any], counts: _Counts) -> str:
    if not counts.changed:
        return "No product held the renamed values."
    return f"{numbered_products(counts.changed)} {'has' if counts.changed == 1 else 'have'} the new words now."


def _describe_levels(parameters: Mapping[str, Any], counts: _Counts) -> str:
    level = parameters.get("levelName") or parameters["levelId"]
    rest = (
        f"; {counts.unchanged:,} {'was' if counts.unchanged == 1 else 'were'} there already" if counts.unchanged else ""
    )
    return f"{numbered_products(counts.changed)} moved to “{level}”{rest}."


def _describe_values(parameters: Mapping[str, Any], counts: _Counts) -> str:
    name = parameters.get("attributeName") or parameters["attributeId"]
    parts = [f"{name} changed on {numbered_products(counts.changed)}"]
    if counts.unchanged:
        parts.append(f"{counts.unchanged:,} had it so already")
    if counts.skipped:
        parts.append(f"{counts.skipped:,} left out, because it does not hold for their level or not with this value")
    return "; ".join(parts) + "."


def _describe_restore(_parameters: Mapping[str, Any], counts: _Counts) -> str:
    left = counts.unchanged + counts.skipped
    rest = f"; {left:,} keep theirs in the archive" if left else ""
    have = "has" if counts.changed == 1 else "have"
    return f"{numbered_products(counts.changed)} {have} a classification again{rest}."


def _describe_undo(parameters: Mapping[str, Any], counts: _Counts) -> str:
    what = f"Undone: {parameters['undone']}. " if parameters.get("undone") else ""
    are = "is as it was" if counts.changed == 1 else "are as they were"
    rest = f"; {counts.skipped:,} changed meanwhile, or had a level that is gone, and stay" if counts.skipped else ""
    return f"{what}{numbered_products(counts.changed)} {are}{rest}."


_DESCRIPTIONS: Mapping[Kind, Callable[[Mapping[str, Any], _Counts], str]] = {
    Kind.RECOMPUTE: _describe_recompute,
    Kind.RENAME_VALUES: _describe_renames,
    Kind.ASSIGN_LEVEL: _describe_levels,
    Kind.ASSIGN_VALUE: _describe_values,
    Kind.RESTORE: _describe_restore,
    Kind.UNDO: _describe_undo,
}


def _data_loss_title(kind: Kind | None, task: TaxonomyTask) -> str:
    if kind is Kind.RESTORE:
        return STAYED
    return REPLACED if only_replaces(task.kind, task.parameters) else LOST


def only_replaces(kind: str, parameters: Mapping[str, Any]) -> bool:
    """Whether every value that such a task takes from a product has another in its place afterwards."""
    return kind == Kind.ASSIGN_VALUE and parameters.get("way") != "clear"


def _data_loss(kind: Kind | None, task: TaxonomyTask) -> list[Loss]:
    """Return the values that products lost or had replaced, by attribute, most products first."""
    report = task.report
    names = report.get("names", {})
    cleared = kind is Kind.ASSIGN_VALUE and not only_replaces(task.kind, task.parameters)
    words = {
        "dropped": "left in the archive" if kind is Kind.RESTORE else "dropped",
        "replaced": "taken away" if cleared else "replaced",
    }
    found = [
        Loss(attribute_id, names.get(attribute_id, attribute_id), count, happened, _examples(report, attribute_id))
        for key, happened in words.items()
        for attribute_id, count in report.get(key, {}).items()
    ]
    return sorted(found, key=lambda loss: (-loss.products, loss.name))


def _examples(report: Mapping[str, Any], attribute_id: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (lost["sku"], describe_value(lost["values"][attribute_id]))
        for lost in report.get("lost", ())
        if attribute_id in lost["values"]
    )


def describe_value(value: Any) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


_LINKS = {
    Kind.RECOMPUTE: "See the products that are not complete",
    Kind.ASSIGN_LEVEL: "See the products of this level",
    Kind.ASSIGN_VALUE: "See the products of this attribute",
}


def _products_query(kind: Kind | None, parameters: Mapping[str, Any]) -> str:
    if kind is Kind.RECOMPUTE:
        return "completeness=incomplete"
    if kind is Kind.ASSIGN_LEVEL:
        return urlencode({"level": parameters["levelId"]})
    if kind is Kind.ASSIGN_VALUE:
        name = "missing" if parameters.get("way") == "clear" else "attribute"
        return urlencode({name: parameters["attributeId"]})
    return ""

"""delivery.json, in and out: how the shop delivers, by its declaration."""

from __future__ import annotations

from typing import Any

from app.domain.bundles.import_task import ImportTask
from app.domain.delivery.deliveries import read_sent, save_delivery, saved_delivery
from app.domain.shared.problems import Invalid

FILE = "delivery.json"
KIND = "delivery"


def delivery_document(site_id: int) -> dict[str, Any]:
    """Return the delivery of a site; empty where it has none of its own, which an import leaves as it is."""
    saved = saved_delivery(site_id)
    return saved.value.as_json() if saved.revision else {}


def import_delivery(task: ImportTask) -> None:
    """Import the delivery. A field that the file leaves out stays as it is; prices are in the currency of the site."""
    document = task.documents.get(FILE)
    if document is None or not document.content:
        return
    try:
        with task.writing():
            known = saved_delivery(task.site_id).value
            wanted = read_sent(known.as_json() | document.content)
            is_changed = wanted != known
            if is_changed and not task.dry_run:
                save_delivery(task.author, None, wanted)
        task.report.of(KIND).note("changed" if is_changed else "unchanged", "delivery")
    except Invalid as invalid:
        task.refuse(KIND, document, invalid.problems)

"""judgements.json, in and out: the judgement lists of a site, with the ratings of products and without who gave
them."""

from __future__ import annotations

from typing import Any

from app.domain.bundles.import_task import ImportTask, ids_by_sku, problems_at
from app.domain.relevance.judgements import transfer
from app.domain.relevance.judgements.lists import USUAL_POOL, ListDraft
from app.domain.relevance.judgements.measures import Combination
from app.domain.relevance.judgements.transfer import TravellingList
from app.domain.shared.problems import Invalid
from app.domain.shared.schema import Choice, Flag, Items, Object, Record, Text, Whole
from app.domain.shared.text import one_line

FILE = "judgements.json"
LISTS = "judgement lists"
LIST = Record(
    name=Text(required=True),
    combination=Choice(tuple(each.value for each in Combination)),
    inPreviews=Flag(),
    largestDrop=Whole(allow_none=True),
    poolSize=Whole(),
    searches=Items(required=True),
)
SEARCH = Record(query=Text(required=True), ratings=Object(required=True))


def judgements_document(site_id: int) -> list[dict[str, Any]]:
    return [one.as_json() for one in transfer.travelling_lists(site_id)]


def import_judgements(task: ImportTask) -> None:
    """Import the judgement lists, after the products, which they name by SKU."""
    document = task.documents.get(FILE)
    if document is None:
        return
    counts = task.report.of(LISTS)
    for index, raw in enumerate(document.content):
        with task.writing():
            try:
                sent = _read_list(raw)
                clean = transfer.check(sent, ids_by_sku(task, sent.skus))
                counts.note(transfer.take(task.author, clean, task.dry_run), clean.draft.name)
            except Invalid as refused:
                task.refuse(LISTS, document, problems_at(f"#/{index}", refused.problems))


def _read_list(raw: Any) -> TravellingList:
    """Return the list of a row. Raises Invalid."""
    fields = LIST.load(raw)
    draft = ListDraft(
        one_line(fields["name"]),
        Combination(fields.get("combination", Combination.MEAN)),
        fields.get("inPreviews", False),
        fields.get("largestDrop"),
        fields.get("poolSize", USUAL_POOL),
    )
    searches: dict[str, dict[str, list[int]]] = {}
    for place, one in enumerate(fields["searches"]):
        try:
            found = SEARCH.load(one)
            if found["query"] in searches:
                raise Invalid.one("duplicate", f"“{found['query'][:60]}” stands in the list twice.", "#/query")
            searches[found["query"]] = _read_grades(found["ratings"])
        except Invalid as invalid:
            raise Invalid(problems_at(f"#/searches/{place}", invalid.problems)) from None
    return TravellingList(draft, searches)


def _read_grades(ratings: dict[str, Any]) -> dict[str, list[int]]:
    for sku, grades in ratings.items():
        if not isinstance(grades, list) or any(type(grade) is not int for grade in grades):
            raise Invalid.one(
                "invalid_rating", f"The ratings of {sku[:64]} must be a list of whole numbers.", "#/ratings"
            )
    return ratings

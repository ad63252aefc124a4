"""The tool of synonyms."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from app import ports
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.relevance import synonym_suggestions
from app.domain.relevance import synonyms as editing
from app.domain.relevance import synonyms as queries
from app.domain.relevance.models import Synonym
from app.domain.relevance.proposals import SynonymProposal
from app.domain.relevance.synonym_definition import LIVE, StatusFilter, SynonymList, SynonymState
from app.domain.relevance.synonym_mining import describe_evidence
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving.configuration import serving_state
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.addresses import lookup_id
from app.domain.shared.record_fields import fields_of
from app.mcp.arguments import Answer, DryRun, PageNumber, PageSize, PagingShape, WriteArguments, paging_of
from app.mcp.record_shapes import answers_fields, sent_fields, takes_fields
from app.mcp.registry import UNDO, Call, reads, tool, undo_address, writes
from app.mcp.rule_shapes import PreviewShape, preview
from app.web.permissions import Permission

GROUP = fields_of(SynonymGroup)
NEEDED = tuple(field.key for field in GROUP if field.is_required)
TAKEN = tuple(field.key for field in GROUP if not field.is_required)


@takes_fields(GROUP)
class GroupArguments(WriteArguments):
    """The arguments that name a synonym and its words."""

    action: Literal["list", "add", "edit", "remove", "accept", "reject", "suggest"] = Field(
        description=(
            "list (takes words, status, type, pageNumber and pageSize): answer synonyms, the live ones unless status "
            "says otherwise. add (needs type and synonyms, for ONE_WAY root): make a live synonym. edit (needs id, "
            "revision, type and synonyms, for ONE_WAY root): give a live synonym exactly these words. remove (needs id "
            "and revision): take a synonym out of search. accept (needs id and revision, takes type, root and "
            "synonyms): make a suggestion live; what you leave out stays as suggested. reject (needs id and revision): "
            "the suggestion never comes back. suggest: have the shop look for more suggestions, which takes a while; "
            "see search of list."
        )
    )
    id: str | None = Field(
        default=None, max_length=20, description="For edit, remove, accept and reject: the id of the synonym."
    )
    revision: int | None = Field(
        default=None,
        description=(
            "For edit, remove, accept and reject: that of the synonym as you read it. Where somebody changed it since "
            "then, the call is refused: read it again."
        ),
    )


class SynonymArguments(GroupArguments):
    words: str | None = Field(default=None, max_length=LONGEST_WORDS, description="For list: only synonyms with this.")
    status: Literal["LIVE", "SUGGESTED", "REJECTED", "ANY"] = Field(
        default="LIVE", description="For list. SUGGESTED wait for a decision, those with most searches first."
    )
    page_number: PageNumber = 1
    page_size: PageSize = 50


@answers_fields((*GROUP, *fields_of(SynonymState)))
class SynonymFieldsShape(Answer):
    id: str | None = Field(description="Null for one that a dry run only tried to make.")


class SynonymShape(SynonymFieldsShape):
    reason: str = Field(description="What speaks for a suggestion, in words.")
    synced: bool = Field(description="False while shoppers are not served it yet, which takes two seconds.")
    revision: int
    updated_by: str
    updated_at: str


class SuggestionSearchShape(Answer):
    state: str = Field(description="waiting, running, done or failed.")
    added: int = Field(description="How many suggestions came of it.")
    error: str | None
    requested_by: str


class SynonymsAnswer(Answer):
    synonyms: list[SynonymShape] = Field(description="For list those that fit, else the one concerned.")
    paging: PagingShape | None = Field(description="For list.")
    search: SuggestionSearchShape | None = Field(description="For list and suggest: the latest search for suggestions.")
    removed: str | None = Field(description="For remove: what is gone, as people write it.")
    changed: bool
    preview: PreviewShape | None = Field(description="With dryRun: what shoppers would find, before and after.")
    undo: str | None = Field(description=UNDO)
    dry_run: DryRun


@tool(
    "manageSynonyms",
    "Synonyms of search",
    Permission.MANAGE_SEARCH,
    {
        "list": reads(takes=("words", "status", "type", "pageNumber", "pageSize")),
        "add": writes(*NEEDED, takes=TAKEN),
        "edit": writes("id", "revision", *NEEDED, takes=TAKEN),
        "remove": writes("id", "revision"),
        "accept": writes("id", "revision", takes=(*NEEDED, *TAKEN)),
        "reject": writes("id", "revision"),
        "suggest": writes(),
    },
    is_destructive=True,
    is_idempotent=False,
)
def manage_synonyms(call: Call, sent: SynonymArguments) -> SynonymsAnswer:
    """Read and change words that shoppers use for the same thing, for all products at once, and decide on suggested
    ones. A shop has at most 1,000; a word stands in one EQUIVALENT synonym at most. For a word that finds one product
    use manageProductSearchTerms. What to add: see the searches of searchInsights that found nothing."""
    match sent.action:
        case "list":
            return _listed(call, sent)
        case "remove":
            return _removed(call, sent)
        case "suggest":
            return _answer(call, [], changed=synonym_suggestions.request_run(call.author), search=_search(call))
        case "reject":
            return _one(call, editing.reject(call.author, lookup_id(sent.id), sent.revision or 0).id)
    return _saved(call, sent)


def _listed(call: Call, sent: SynonymArguments) -> SynonymsAnswer:
    state = serving_state(call.site_id)
    listing = SynonymList(
        words=" ".join((sent.words or "").split()),
        type=SynonymType(kind) if (kind := _fields(sent).get("type")) else None,
        status=StatusFilter.ANY if sent.status == "ANY" else StatusFilter(sent.status),
        page=sent.page_number,
        page_size=sent.page_size,
    )
    found = queries.find_synonyms(call.site_id, listing, state)
    return _answer(call, [_shape(row, state) for row in found.items], paging=paging_of(found), search=_search(call))


def _search(call: Call) -> SuggestionSearchShape | None:
    run = synonym_suggestions.latest_run(ports.clock(), call.site_id)
    if run is None:
        return None
    return SuggestionSearchShape(state=run.state, added=run.added, error=run.error, requested_by=run.requested_by)


def _saved(call: Call, sent: SynonymArguments) -> SynonymsAnswer:
    if sent.action == "add":
        row = editing.add(call.author, _group(sent))
        return _one(call, row.id, is_tried=call.dry_run and row.revision == 1)  # A suggestion that it became has more.
    if sent.action == "accept":
        edited = _edited(call, sent) if _fields(sent) else None
        return _one(call, editing.accept(call.author, lookup_id(sent.id), sent.revision or 0, edited).id)
    changed = editing.change(call.author, lookup_id(sent.id), sent.revision or 0, _group(sent))
    return _one(call, lookup_id(sent.id), changed)


def _removed(call: Call, sent: SynonymArguments) -> SynonymsAnswer:
    synonym_id = lookup_id(sent.id)
    group = editing.synonym_of(call.site_id, synonym_id).group
    written = editing.delete(call.author, synonym_id, sent.revision or 0)
    proposal = SynonymProposal(group, remove=True)
    return _answer(call, [], changed=True, removed=written, of=synonym_id, proposal=proposal)


def _one(call: Call, synonym_id: int, changed: bool = True, is_tried: bool = False) -> SynonymsAnswer:
    """Return the answer about one synonym. `is_tried`: a dry run made it, so its id is left out."""
    row = editing.synonym_of(call.site_id, synonym_id)
    proposal = SynonymProposal(row.group) if row.status == LIVE else None
    shape = _shape(row, serving_state(call.site_id))
    shapes = [shape.model_copy(update={"id": None}) if is_tried else shape]
    return _answer(call, shapes, changed=changed, of=synonym_id if changed else None, proposal=proposal)


def _answer(
    call: Call,
    shapes: list[SynonymShape],
    *,
    paging: PagingShape | None = None,
    search: SuggestionSearchShape | None = None,
    changed: bool = False,
    removed: str | None = None,
    of: int | None = None,
    proposal: SynonymProposal | None = None,
) -> SynonymsAnswer:
    return SynonymsAnswer(
        synonyms=shapes,
        paging=paging,
        search=search,
        removed=removed,
        changed=changed,
        preview=preview(call.site_id, proposal) if call.dry_run and proposal else None,
        undo=undo_address(call, "synonym", of) if of else None,
        dry_run=call.dry_run,
    )


def _edited(call: Call, sent: SynonymArguments) -> SynonymGroup:
    """Return a suggestion as the agent edits it: what was not sent stays as it was suggested. Raises NotFound."""
    suggested = editing.synonym_of(call.site_id, lookup_id(sent.id)).group
    fields = suggested.as_json() | _fields(sent)
    if not SynonymType(fields["type"]).has_root:
        fields["root"] = _fields(sent).get("root")
    return SynonymGroup.of_json(fields)


def _group(sent: SynonymArguments) -> SynonymGroup:
    return SynonymGroup.of_json({"type": SynonymType.EQUIVALENT, "synonyms": []} | _fields(sent))


def _fields(sent: SynonymArguments) -> dict[str, Any]:
    """Return the sent fields of the synonym, by their names in its JSON."""
    return sent_fields(sent, GROUP)


def _shape(row: Synonym, state: ServedConfiguration | None) -> SynonymShape:
    return SynonymShape.model_validate(row.as_json(state) | {"reason": describe_evidence(row.evidence)})

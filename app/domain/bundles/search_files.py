"""synonyms.json, rules.json and goldens.json, in and out: the synonyms (live ones, suggestions that wait, and rejected
ones, which must not come back), search rules and golden searches of a site, complete but for what is its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.bundles.archive import order_fields
from app.domain.bundles.import_task import ImportTask, ids_by_sku, problems_at
from app.domain.bundles.reading import Document
from app.domain.relevance import golden as searches
from app.domain.relevance import rules
from app.domain.relevance.golden import USUAL, Expectation, expectation_of, golden_searches
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.relevance.rule_definition import rule_label
from app.domain.relevance.synonym_definition import (
    LIVE,
    STATE,
    SynonymState,
    TakenWords,
    check_synonym,
    fingerprint,
)
from app.domain.relevance.synonym_import import TableLine, plan_import
from app.domain.relevance.synonyms import add_checked, change_checked, live_groups, synonym_of
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import RULE, Rule
from app.domain.search.serving.synonyms import SYNONYM, SynonymGroup
from app.domain.search.serving.term_index import Match
from app.domain.shared.csv_tables import ImportLine, ImportReport, RowOutcome
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Flag, Record, Text, Whole
from app.extensions import db

SYNONYMS_FILE = "synonyms.json"
SYNONYMS = "synonyms"
SYNONYM_RECORD = Record(
    **SYNONYM.fields,
    **STATE.fields,
    # Given by a site, and ignored.
    synced=Flag(),
    revision=Whole(),
    updatedBy=Text(),
    updatedAt=Text(),
)
OUTCOMES = {RowOutcome.ADDED: "added", RowOutcome.CHANGED: "changed", RowOutcome.SAME: "unchanged"}
GOLDENS_FILE = "goldens.json"
GOLDENS = "golden searches"
GOLDEN = Record(query=Text(required=True), sku=Text(required=True), within=Whole())
RULES_FILE = "rules.json"
RULES = "rules"
SET_BY_SITE = {
    "normalizedTerm",
    "synced",
    "revision",
    "updatedBy",
    "updatedAt",
}  # Set by each site itself, and ignored.


@dataclass(frozen=True, slots=True)
class _ReadSynonym:
    """A synonym of the file; `index` is its place in it."""

    index: int
    group: SynonymGroup
    state: SynonymState


def import_synonyms(task: ImportTask) -> None:
    """Import the synonyms. A live one with the words, or the root, of a live one of the site changes that one. One that
    is not live is added only where the site has no equal one in any state."""
    document = task.documents.get(SYNONYMS_FILE)
    if document is None:
        return
    task.report.of(SYNONYMS)
    sent = list(_read_synonyms(task, document))
    live = {one.index: one for one in sent if one.state.status == LIVE}
    with task.writing():
        _take_live(task, document, live)
        for one in sent:
            if one.state.status != LIVE:
                _take_undecided(task, document, one)


def _read_synonyms(task: ImportTask, document: Document) -> Iterator[_ReadSynonym]:
    for index, raw in enumerate(document.content):
        try:
            fields = SYNONYM_RECORD.load(raw, f"#/{index}")
        except Invalid as refused:
            task.refuse(SYNONYMS, document, refused.problems)
            continue
        yield _ReadSynonym(index, SynonymGroup.of_json(fields), SynonymState.of_json(fields))


def _take_live(task: ImportTask, document: Document, live: dict[int, _ReadSynonym]) -> None:
    report, by_line = _plan_live(task, document, live)
    if report.changes and not task.dry_run:
        version = configuration.raise_version(task.site_id)
        report, by_line = _plan_live(task, document, live)  # Nobody else changes them from here on.
        for line, one in zip(report.lines, by_line, strict=True):
            _write_live(task, line, one, version)
    counts = task.report.of(SYNONYMS)
    for line, one in zip(report.lines, by_line, strict=True):
        if line.outcome in OUTCOMES:
            counts.note(OUTCOMES[line.outcome], ", ".join(one.group.words))
        if line.outcome is RowOutcome.REFUSED:
            task.refuse(SYNONYMS, document, [Problem("refused", line.reason, f"#/{one.index}")])


def _plan_live(
    task: ImportTask, document: Document, live: dict[int, _ReadSynonym]
) -> tuple[ImportReport[SynonymGroup], list[_ReadSynonym]]:
    lines = [TableLine(document.line_of(f"#/{index}"), "", one.group) for index, one in live.items()]
    return plan_import(live_groups(task.site_id), lines), list(live.values())


def _write_live(task: ImportTask, line: ImportLine[SynonymGroup], one: _ReadSynonym, version: int) -> None:
    if line.made is not None and line.outcome is RowOutcome.ADDED:
        add_checked(task.author, line.made, version, one.state.source, one.state.evidence)
    elif line.made is not None and line.replaces is not None and line.replaces.id is not None:
        change_checked(task.author, synonym_of(task.site_id, line.replaces.id), line.made, version)


def _take_undecided(task: ImportTask, document: Document, one: _ReadSynonym) -> None:
    try:
        # What could not be live beside today's synonyms may still wait or be rejected.
        group = check_synonym(one.group, TakenWords())
    except Invalid as refused:
        task.refuse(SYNONYMS, document, problems_at(f"#/{one.index}", refused.problems))
        return
    written = fingerprint(group)
    query = select(Synonym.id).where(Synonym.site_id == task.site_id, Synonym.fingerprint == written)
    if db.session.scalar(query) is not None:
        task.report.of(SYNONYMS).note("unchanged", "")
        return
    task.report.of(SYNONYMS).note("added", ", ".join(group.words))
    if not task.dry_run:
        _add_undecided(task, group, one)


def _add_undecided(task: ImportTask, group: SynonymGroup, one: _ReadSynonym) -> None:
    now = task.clock.now()
    synonym = Synonym(site_id=task.site_id)
    synonym.write(group)
    one.state.write_row(synonym)
    synonym.revision, synonym.words_version = 1, 0
    synonym.created_at = synonym.updated_at = now
    synonym.updated_by = task.importer.name[:100]
    db.session.add(synonym)
    db.session.flush()


def import_rules(task: ImportTask) -> None:
    """Import the rules, after the products, which they name by SKU. A rule with an unknown SKU is left out whole: half
    of it would do something unintended."""
    document = task.documents.get(RULES_FILE)
    if document is None:
        return
    task.report.of(RULES)
    places: dict[tuple[Match, str], int] = {}
    with task.writing():
        for index, raw in enumerate(document.content):
            try:
                _take_rule(task, *_read_rule(task, raw, document, index, places))
            except Invalid as refused:
                task.refuse(RULES, document, problems_at(f"#/{index}", refused.problems))


def _read_rule(
    task: ImportTask, raw: Any, document: Document, index: int, places: dict[tuple[Match, str], int]
) -> tuple[Rule, SearchRule | None]:
    """Return the rule of the file, checked, and the site's rule for the same search, which keeps the fields that the
    file leaves out. Raises Invalid."""
    fields = {name: value for name, value in raw.items() if name not in SET_BY_SITE} if isinstance(raw, dict) else raw
    term = fields.get("term") if isinstance(fields, dict) else None
    match = fields.get("match", Match.EXACT) if isinstance(fields, dict) else None
    is_named = isinstance(term, str) and isinstance(match, str) and match in set(Match)
    stored = rules.rule_for(task.site_id, str(term), Match(str(match))) if is_named else None
    if stored is not None:
        fields = stored.value.as_json() | fields
    rule = Rule.of_json(RULE.load(fields))
    known = dict.fromkeys(ids_by_sku(task, list(dict.fromkeys(rule.skus))), "")
    added = task.categories if task.dry_run else ()
    clean = rules.check_for_site(task.site_id, rule, stored, True, known, task.tree, added)
    first = places.setdefault((clean.match, clean.normalized_term), index)
    if first != index:
        line = document.line_of(f"#/{first}")
        raise Invalid.one("duplicate_term", f"A {rule_label(clean)} is already on line {line}.", "#/term")
    return clean, stored


def _take_rule(task: ImportTask, clean: Rule, stored: SearchRule | None) -> None:
    counts = task.report.of(RULES)
    if stored is None:
        counts.note("added", clean.term)
        if not task.dry_run:
            rules.add_checked(task.author, clean)
    elif clean.as_json() == stored.value.as_json():
        counts.note("unchanged", clean.term)
    else:
        counts.note("changed", clean.term)
        if not task.dry_run:
            rules.change_checked(task.author, rules.rule_of(task.site_id, stored.id, to_change=True), clean)


def import_goldens(task: ImportTask) -> None:
    """Import the golden searches, after the products, which they name by SKU."""
    document = task.documents.get(GOLDENS_FILE)
    if document is None:
        return
    counts = task.report.of(GOLDENS)
    seen: set[tuple[str, str]] = set()
    with task.writing():
        for index, raw in enumerate(document.content):
            try:
                sent = _read_golden(raw, seen)
                counts.note(_take_golden(task, sent), str(sent))
            except Invalid as refused:
                task.refuse(GOLDENS, document, problems_at(f"#/{index}", refused.problems))


def _read_golden(raw: Any, seen: set[tuple[str, str]]) -> Expectation:
    """Return the golden search of a row. Raises Invalid."""
    fields = GOLDEN.load(raw)
    sent = Expectation(fields["query"], fields["sku"], fields.get("within", USUAL))
    key = searches.key_of(sent)
    if key in seen:
        raise Invalid.one("duplicate", f"A golden search for {sent} stands in the file twice.", "#/query")
    seen.add(key)
    return sent


def _take_golden(task: ImportTask, sent: Expectation) -> str:
    stored = searches.similar_golden(task.site_id, sent)
    if stored is None:
        is_known = sent.sku.strip() in ids_by_sku(task, [sent.sku.strip()])
        clean = searches.check_new(task.site_id, sent, is_known)
        if not task.dry_run:
            searches.add(task.author, clean)
        return "added"
    if stored.within == sent.within:
        return "unchanged"
    if not task.dry_run:
        wanted = Expectation(stored.query, stored.sku, sent.within)
        searches.change(task.author, stored.id, stored.revision, wanted)
    return "changed"


def synonyms_document(site_id: int) -> list[dict[str, Any]]:
    rows = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id).order_by(Synonym.id))
    records = [row.record | {"evidence": order_fields(row.evidence)} for row in rows]
    return sorted(records, key=lambda record: (record["type"], record["root"] or "", record["synonyms"]))


def rules_document(site_id: int) -> list[dict[str, Any]]:
    rows = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id))
    return [rule.value.as_json() for rule in sorted(rows, key=lambda rule: (rule.normalized_term, rule.match))]


def goldens_document(site_id: int) -> list[dict[str, Any]]:
    """Return the golden searches whose product is there: a shop takes no others."""
    rows = (expectation_of(row.search) for row in golden_searches(site_id) if row.product_id is not None)
    return [golden.as_json() for golden in sorted(rows, key=lambda golden: (golden.query, golden.sku))]

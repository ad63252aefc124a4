"""Unsaved changes of search: a synonym, a rule or the search terms of a product, saved or removed, ranking settings,
learning from clicks or search by meaning on or off, or how searches are understood. Pure.

As JSON: `{"kind": "synonym" | "rule", "remove": false, …}` with the fields of the record, or `{"kind": "terms",
"productId": 5, "terms": ["mac"], "add": false}` or `{"kind": "ranking", "soldOut": "last", "sales": "high", "newness":
"none", "stock": "low"}` or `{"kind": "learning", "on": true}` or `{"kind": "meaning", "on": false}` or `{"kind":
"understanding", "mode": "on"}`. Only what would make a preview expensive or meaningless is refused; whether a change
may be saved is checked when it is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from app.domain.catalogue.product_rules import clean_terms
from app.domain.relevance.rule_definition import rule_label
from app.domain.search.ranking_settings import RANKING, RankingSettings, of_json
from app.domain.search.serving.plan import Served
from app.domain.search.serving.product_groups import ProductGroup
from app.domain.search.serving.rules import RULE, Banner, PinnedSku, Rule
from app.domain.search.serving.synonyms import SYNONYM, SynonymGroup
from app.domain.search.understanding.parts import UnderstandingMode
from app.domain.shared.problems import Invalid
from app.domain.shared.record_fields import MomentField, TextField, fields_of
from app.domain.shared.text import one_line

LONGEST_WORDS = 200  # Characters of a word, a term or a SKU.
LONGEST = {field.key: field.longest for field in fields_of(Rule) if isinstance(field, TextField)}
LONGEST |= {"term": LONGEST_WORDS, "text": 500, "linkUrl": 500, "categories": 1_000}
MOMENTS = tuple(field.key for field in fields_of(Rule) if isinstance(field, MomentField))
MOST_WORDS = 20
MOST_SKUS = 300
LAST_PIN = 1_000
LARGEST_NUMBER = 2_147_483_647
WITH = {True: "With", False: "Without"}


@dataclass(frozen=True, slots=True)
class SynonymProposal:
    """A proposal to save the group in place of the one of its id or, with `remove`, to delete that one."""

    group: SynonymGroup
    remove: bool = False


@dataclass(frozen=True, slots=True)
class RuleProposal:
    """A proposal to save the rule in place of the one of its id or term or, with `remove`, to delete that one."""

    rule: Rule
    remove: bool = False


@dataclass(frozen=True, slots=True)
class TermsProposal:
    """A proposal to replace a product's search terms or, with `add`, to add to them."""

    product_id: int
    terms: tuple[str, ...]
    add: bool = False


@dataclass(frozen=True, slots=True)
class RankingProposal:
    """A proposal to replace all ranking settings."""

    ranking: RankingSettings


@dataclass(frozen=True, slots=True)
class LearningProposal:
    """A proposal to serve what was learned from clicks to shoppers, or not to."""

    on: bool


@dataclass(frozen=True, slots=True)
class MeaningProposal:
    """A proposal to let the meaning of words rank as well, or not to."""

    on: bool


@dataclass(frozen=True, slots=True)
class UnderstandingProposal:
    """A proposal to make filters of prices, sizes, values and brands among the words of searches, or not to."""

    mode: UnderstandingMode


ForAllSearches = RankingProposal | LearningProposal | MeaningProposal | UnderstandingProposal
Proposal = SynonymProposal | RuleProposal | TermsProposal | ForAllSearches


def apply_proposal(served: Served, proposal: Proposal) -> Served:
    """Return the serving configuration as it would be with the proposal. Search terms live in the index and change
    nothing here."""
    match proposal:
        case RankingProposal(ranking):
            return replace(served, ranking=ranking)
        case LearningProposal(on):
            return replace(served, learned=served.learned.switched(on))
        case MeaningProposal(on):
            return replace(served, by_meaning=on)
        case UnderstandingProposal(mode):
            return replace(served, understanding=mode)
        case SynonymProposal() | RuleProposal():
            return _apply_record(served, proposal)
    return served


def _apply_record(served: Served, proposal: SynonymProposal | RuleProposal) -> Served:
    match proposal:
        case SynonymProposal(group, False):
            return replace(served, synonyms=served.synonyms.with_group(group))
        case SynonymProposal(group, True) if group.id is not None:
            return replace(served, synonyms=served.synonyms.without(group.id))
        case RuleProposal(rule, False):
            return replace(served, rules=served.rules.with_rule(rule))
        case RuleProposal(rule, True):
            found = rule if rule.id is not None else served.rules.like(rule)
            if found is not None and found.id is not None:
                return replace(served, rules=served.rules.without(found.id))
    return served


def complete_removal(proposal: Proposal, served: Served) -> Proposal:
    """Return a removal that has only an id with the whole served record of that id, any other proposal as it is."""
    match proposal:
        case SynonymProposal(group, True):
            known = next((one for one in served.synonyms.groups if one.id == group.id), None)
            return replace(proposal, group=known) if known is not None else proposal
        case RuleProposal(rule, True):
            found = served.rules.like(rule) if rule.id is not None else None
            return replace(proposal, rule=found) if found is not None else proposal
    return proposal


def without_note(proposal: Proposal) -> Proposal:
    """Return the proposal without what people noted beside a rule, which serves nothing."""
    return replace(proposal, rule=replace(proposal.rule, note="")) if isinstance(proposal, RuleProposal) else proposal


def searches_of(proposal: Proposal) -> tuple[str, ...]:
    """Return the searches that the change is about, each once; none where it is about all."""
    match proposal:
        case SynonymProposal(group):
            words: tuple[str, ...] = (*([group.root] if group.root else []), *group.words)
        case RuleProposal(rule):
            words = rule.terms
        case TermsProposal(terms=terms):
            words = terms
        case RankingProposal() | LearningProposal() | MeaningProposal() | UnderstandingProposal():
            words = ()
    return tuple(dict.fromkeys(word for word in words if word.strip()))


def preview_moment(proposal: Proposal, now: datetime) -> datetime:
    """Return the moment for which the change is previewed: the start of a rule that begins later, else now."""
    if isinstance(proposal, RuleProposal) and not proposal.remove:
        starts_at = proposal.rule.starts_at
        return starts_at if starts_at is not None and starts_at > now else now
    return now


def describe(proposal: Proposal) -> str:
    """Describe the change in a few words."""
    match proposal:
        case SynonymProposal(group, remove):
            return f"{WITH[not remove]} the synonym “{group}”"
        case RuleProposal(rule, remove):
            return f"{WITH[not remove]} the {rule_label(rule)}"
        case TermsProposal(terms=terms, add=add):
            listed = ", ".join(f"“{term}”" for term in terms)
            return f"With the search terms {'also ' if add else ''}{listed}" if terms else "Without search terms"
        case RankingProposal(ranking):
            return f"With {ranking}"
        case LearningProposal(on):
            return f"{WITH[on]} what was learned from clicks"
        case MeaningProposal(on):
            return f"{WITH[on]} search by meaning"
        case UnderstandingProposal(mode):
            return f"With understanding of searches {mode.value}"


def as_json(proposal: Proposal) -> dict[str, Any]:
    match proposal:
        case SynonymProposal(group, remove):
            return {"kind": "synonym", "remove": remove, "id": group.id, **group.as_json()}
        case RuleProposal(rule, remove):
            return {"kind": "rule", "remove": remove, "id": rule.id, **rule.as_json()}
        case TermsProposal(product_id, terms, add):
            return {"kind": "terms", "productId": product_id, "terms": list(terms), "add": add}
        case RankingProposal(ranking):
            return {"kind": "ranking", **ranking.as_json()}
        case LearningProposal(on):
            return {"kind": "learning", "on": on}
        case MeaningProposal(on):
            return {"kind": "meaning", "on": on}
        case UnderstandingProposal(mode):
            return {"kind": "understanding", "mode": mode.value}


def read_proposal(sent: object) -> Proposal:
    """Read a proposal that a client sent as JSON. Raises Invalid; fields that it does not know are ignored."""
    proposal = stored_proposal(sent)
    if isinstance(proposal, RuleProposal) and not proposal.remove:
        _check_group_numbers(proposal.rule)
    return proposal


def stored_proposal(sent: object) -> Proposal:
    """Read a proposal from JSON that was stored. Numbers of groups that an earlier release did not check are taken as
    they are: a search, or a page of what was tried, must not fail for them. Raises Invalid."""
    fields: Mapping[str, Any] = sent if isinstance(sent, Mapping) else {}
    readers: dict[str, Callable[[Mapping[str, Any]], Proposal]] = {
        "synonym": _read_synonym,
        "rule": _read_rule,
        "terms": _read_terms,
        "ranking": _read_ranking,
        "learning": lambda sent: LearningProposal(sent.get("on") is not False),
        "meaning": lambda sent: MeaningProposal(sent.get("on") is not False),
        "understanding": _read_understanding,
    }
    reader = readers.get(str(fields.get("kind")))
    if reader is None:
        kinds = f"{', '.join(list(readers)[:-1])} or {list(readers)[-1]}"
        raise Invalid.one("unknown_kind", f"Say what to try, as its kind: {kinds}.", "#/kind")
    return reader(fields)


def _read_synonym(sent: Mapping[str, Any]) -> SynonymProposal:
    words = sent.get("synonyms", sent.get("words")) or []
    fields = {"type": sent.get("type") or "EQUIVALENT", "root": sent.get("root"), "synonyms": words}
    _check_size(fields, MOST_WORDS)
    group = SynonymGroup.of_json(SYNONYM.load(fields), _read_number(sent, "id"))
    one_way = group.type.has_root
    root = one_line(group.root or "") or None if one_way else None
    group = replace(group, root=root, words=_distinct(group.words))
    remove = sent.get("remove") is True
    if not remove and (len(group.words) < (1 if one_way else 2) or (one_way and not root)):
        raise Invalid.one("too_few_words", "Write the words first; then they can be tried.", "#/synonyms")
    return SynonymProposal(group, remove)


def _read_rule(sent: Mapping[str, Any]) -> RuleProposal:
    fields = {"term": ""} | {name: sent[name] for name in RULE.fields if sent.get(name) not in (None, "")}
    fields |= {name: _with_zone(fields[name]) for name in MOMENTS if name in fields}
    if isinstance(fields.get("pins"), list):
        pins = fields["pins"]  # Of the form, which has rows that are not filled in yet.
        fields["pins"] = [p for p in pins if not isinstance(p, Mapping) or (p.get("sku") and p.get("position"))]
    _check_size(fields, MOST_SKUS)
    rule = Rule.of_json(RULE.load(fields), _read_number(sent, "id"))
    remove = sent.get("remove") is True
    if not rule.normalized_term and not (remove and rule.id):
        raise Invalid.one("required", "Write the search that the rule is for; then it can be tried.", "#/term")
    banner = rule.banner and Banner(one_line(rule.banner.text), one_line(rule.banner.link_url or "") or None)
    rule = replace(
        rule,
        term=one_line(rule.term),
        pins=_finished_pins(rule.pins),
        boosts=_distinct(rule.boosts),
        buries=_distinct(rule.buries),
        redirect_url=one_line(rule.redirect_url or "") or None,
        banner=banner if banner and banner.text else None,
        other_terms=_distinct(rule.other_terms),
        categories=rule.tidied().categories,
        boost_groups=_finished_groups(rule.boost_groups),
        bury_groups=_finished_groups(rule.bury_groups),
    )
    return RuleProposal(rule, remove)


def _with_zone(text: object) -> object:
    """Return a time that names no zone with UTC, the zone of all times in JSON; anything else as it is."""
    try:
        moment = datetime.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return text  # The schema says what is wrong with it.
    return text if moment.tzinfo else moment.replace(tzinfo=UTC).isoformat()


def _finished_pins(pins: Iterable[PinnedSku]) -> tuple[PinnedSku, ...]:
    """Return the pins, each product and position once. Of two products at one position, or two positions of one
    product, the first counts: the other is not set yet."""
    skus: set[str] = set()
    positions: dict[int, PinnedSku] = {}
    for pin in pins:
        sku = one_line(pin.sku)
        if sku and 0 < pin.position <= LAST_PIN and sku not in skus and pin.position not in positions:
            skus.add(sku)
            positions[pin.position] = PinnedSku(sku, pin.position)
    return tuple(positions.values())


def _finished_groups(groups: Iterable[ProductGroup]) -> tuple[ProductGroup, ...]:
    """Return the groups that have a condition."""
    return tuple(group for group in groups if group.tidied() != ProductGroup())


def _check_group_numbers(rule: Rule) -> None:
    """Check that the numbers of groups are within their bounds. Raises Invalid."""
    fields = (("boostGroups", rule.boost_groups), ("buryGroups", rule.bury_groups))
    problems = [
        problem
        for key, groups in fields
        for place, group in enumerate(groups)
        for problem in group.number_problems(f"#/{key}/{place}")
    ]
    if problems:
        raise Invalid(problems)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in map(one_line, texts) if text))


def _read_terms(sent: Mapping[str, Any]) -> TermsProposal:
    product_id = _read_number(sent, "productId")
    if product_id is None:
        raise Invalid.one("required", "Choose the product first.", "#/productId")
    terms = clean_terms(sent["terms"]) if isinstance(sent.get("terms"), list) else []
    add = sent.get("add") is True
    if add and not terms:
        raise Invalid.one("required", "Write the search term first; then it can be tried.", "#/terms")
    return TermsProposal(product_id, tuple(terms), add)


def _read_ranking(sent: Mapping[str, Any]) -> RankingProposal:
    return RankingProposal(of_json(RANKING.load({name: sent[name] for name in RANKING.fields if name in sent})))


def _read_understanding(sent: Mapping[str, Any]) -> UnderstandingProposal:
    mode = sent.get("mode")
    if mode not in tuple(UnderstandingMode):
        raise Invalid.one("unknown_mode", "Say which mode to try: off, suggested or on.", "#/mode")
    return UnderstandingProposal(UnderstandingMode(mode))


def _check_size(value: object, most: int, name: str = "") -> None:
    """Check that no text or list is so large that a trial would be expensive. Raises Invalid."""
    if isinstance(value, str) and len(value) > LONGEST.get(name, LONGEST_WORDS):
        longest = LONGEST.get(name, LONGEST_WORDS)
        raise Invalid.one("invalid_text", f"{name} must be text of at most {longest} characters.", f"#/{name}")
    if isinstance(value, list):
        if len(value) > most:
            raise Invalid.one("too_many", f"{name} must be a list of at most {most}.", f"#/{name}")
        for item in value:
            _check_size(item, most, name)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_size(inner, most, key)


def _read_number(sent: Mapping[str, Any], name: str) -> int | None:
    """Return the id of this name, None for none; it may be text, as in the JSON of the admin. Raises Invalid."""
    value = sent.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(LARGEST_NUMBER)):
        value = int(value)
    if value is not None and not (type(value) is int and 0 < value <= LARGEST_NUMBER):
        raise Invalid.one("invalid_number", f"{name} must be a whole number.", f"#/{name}")
    return value

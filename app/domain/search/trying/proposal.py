"""A change that is not saved: a synonym, a rule or the search terms of a product, saved or removed. Pure.

As JSON: `{"kind": "synonym" | "rule", "remove": false, …}` with the fields of the record, or
`{"kind": "terms", "productId": 5, "terms": ["mac"], "add": false}`. Only what would make trying it expensive or
meaningless is refused; whether it may be saved is asked when it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from app.domain.catalogue.search_terms import clean_terms
from app.domain.search.live.served import Banner, PinnedSku, Rule, Served, SynonymGroup, SynonymType
from app.domain.search.live.snapshot import stored_rule
from app.domain.shared.problems import Invalid

LONGEST = 200  # Characters of a word, a term or a SKU.
LONGEST_ADDRESS = 500
MOST_WORDS = 20
MOST_SKUS = 300
LAST_PIN = 1_000
LARGEST_NUMBER = 2_147_483_647


@dataclass(frozen=True, slots=True)
class SynonymProposal:
    """The group saved, in the place of the one of its id; with `remove`, the group of that id deleted."""

    group: SynonymGroup
    remove: bool = False


@dataclass(frozen=True, slots=True)
class RuleProposal:
    """The rule saved, in the place of the one of its id or term; with `remove`, that one deleted."""

    rule: Rule
    remove: bool = False


@dataclass(frozen=True, slots=True)
class TermsProposal:
    """The product's search terms; with `add`, besides those that it has."""

    product_id: int
    terms: tuple[str, ...]
    add: bool = False


Proposal = SynonymProposal | RuleProposal | TermsProposal


def proposed(served: Served, proposal: Proposal) -> Served:
    """What would be served. Search terms live in the index and change nothing here."""
    match proposal:
        case SynonymProposal(group, remove):
            return replace(served, synonyms=_synonyms(served, group, remove))
        case RuleProposal(rule, remove):
            return replace(served, rules=_rules(served, rule, remove))
    return served


def _synonyms(served: Served, group: SynonymGroup, remove: bool) -> Any:
    if not remove:
        return served.synonyms.with_group(group)
    return served.synonyms.without(group.id) if group.id is not None else served.synonyms


def _rules(served: Served, rule: Rule, remove: bool) -> Any:
    if not remove:
        return served.rules.with_rule(rule)
    known = rule.id if rule.id is not None else _id_of(served, rule)
    return served.rules.without(known) if known is not None else served.rules


def _id_of(served: Served, rule: Rule) -> int | None:
    found = served.rules.by_term.get(rule.normalized_term)
    return found.id if found is not None else None


def completed(proposal: Proposal, served: Served) -> Proposal:
    """A removal that names only the id, with what that record says."""
    match proposal:
        case SynonymProposal(group, True):
            known = next((one for one in served.synonyms.groups if one.id == group.id), None)
            return replace(proposal, group=known) if known is not None else proposal
        case RuleProposal(rule, True):
            rules = served.rules.by_term.values()
            found = next((one for one in rules if rule.id is not None and one.id == rule.id), None)
            return replace(proposal, rule=found) if found is not None else proposal
    return proposal


def searches_of(proposal: Proposal) -> tuple[str, ...]:
    """The searches that the change is about, each once."""
    match proposal:
        case SynonymProposal(group):
            words: tuple[str, ...] = (*([group.root] if group.root else []), *group.words)
        case RuleProposal(rule):
            words = (rule.term,)
        case TermsProposal(terms=terms):
            words = terms
    return tuple(dict.fromkeys(word for word in words if word.strip()))


def moment_of(proposal: Proposal, now: datetime) -> datetime:
    """When the change is looked at: a rule that begins later is looked at when it begins."""
    if isinstance(proposal, RuleProposal) and not proposal.remove:
        starts_at = proposal.rule.starts_at
        return starts_at if starts_at is not None and starts_at > now else now
    return now


def told(proposal: Proposal) -> str:
    """The change in a few words, for people."""
    match proposal:
        case SynonymProposal(group, remove):
            words = f"{group.root} → {', '.join(group.words)}" if group.root else " = ".join(group.words)
            return f"{'Without the' if remove else 'With the'} synonym “{words}”"
        case RuleProposal(rule, remove):
            return f"{'Without the' if remove else 'With the'} rule for “{rule.term}”"
        case TermsProposal(terms=terms, add=add):
            if not terms:
                return "Without search terms"
            return f"With the search terms {'also ' if add else ''}{', '.join(f'“{term}”' for term in terms)}"


def as_json(proposal: Proposal) -> dict[str, Any]:
    match proposal:
        case SynonymProposal(group, remove):
            shape = {"id": group.id, "type": group.type.value, "root": group.root, "synonyms": list(group.words)}
            return {"kind": "synonym", "remove": remove, **shape}
        case RuleProposal(rule, remove):
            return {"kind": "rule", "remove": remove, **stored_rule(rule)}
        case TermsProposal(product_id, terms, add):
            return {"kind": "terms", "productId": product_id, "terms": list(terms), "add": add}


def read(sent: object) -> Proposal:
    """From JSON. Raises Invalid; fields that it does not know are passed over."""
    fields = _Fields(sent if isinstance(sent, Mapping) else {})
    readers: dict[str, Callable[[_Fields], Proposal]] = {"synonym": _synonym, "rule": _rule, "terms": _terms}
    reader = readers.get(str(fields.sent.get("kind")))
    if reader is None:
        raise Invalid.one("unknown_kind", "Say what to try: a synonym, a rule or terms.", "#/kind")
    return reader(fields)


def _synonym(fields: _Fields) -> SynonymProposal:
    kind = fields.text("type") or SynonymType.EQUIVALENT.value
    if kind not in set(SynonymType):
        raise Invalid.one("unknown_type", f"The type is {' or '.join(SynonymType)}.", "#/type")
    one_way = kind == SynonymType.ONE_WAY
    root = fields.text("root") if one_way else None
    words = fields.texts("synonyms" if "synonyms" in fields.sent else "words", MOST_WORDS)
    proposal = SynonymProposal(SynonymGroup(SynonymType(kind), root, words, fields.number("id")), fields.flag("remove"))
    if not proposal.remove and (len(words) < (1 if one_way else 2) or (one_way and not root)):
        raise Invalid.one("too_few_words", "Write the words first; then they can be tried.", "#/synonyms")
    return proposal


def _rule(fields: _Fields) -> RuleProposal:
    banner = fields.sent.get("banner")
    told = _Fields(banner) if isinstance(banner, Mapping) else _Fields({})
    text = told.text("text", LONGEST_ADDRESS)
    rule = Rule(
        term=fields.text("term") or "",
        pins=_pins(fields),
        boosts=fields.texts("boosts", MOST_SKUS),
        buries=fields.texts("buries", MOST_SKUS),
        redirect_url=fields.text("redirectUrl", LONGEST_ADDRESS),
        banner=Banner(text, told.text("linkUrl", LONGEST_ADDRESS)) if text else None,
        enabled=fields.sent.get("enabled") is not False,
        starts_at=fields.time("startsAt"),
        ends_at=fields.time("endsAt"),
        id=fields.number("id"),
    )
    remove = fields.flag("remove")
    if not rule.normalized_term and not (remove and rule.id):
        raise Invalid.one("required", "Write the search that the rule is for; then it can be tried.", "#/term")
    return RuleProposal(rule, remove)


def _pins(fields: _Fields) -> tuple[PinnedSku, ...]:
    """Of two products at one position, or two positions of one product, the first counts: the other is not set yet."""
    sent = fields.sent.get("pins") or []
    if not isinstance(sent, list) or len(sent) > MOST_SKUS:
        raise Invalid.one("invalid_pins", f"The pins are a list of at most {MOST_SKUS}.", "#/pins")
    skus: set[str] = set()
    positions: dict[int, PinnedSku] = {}
    for one in sent:
        pin = _Fields(one if isinstance(one, Mapping) else {})
        sku, position = pin.text("sku"), pin.number("position")
        if sku and position and position <= LAST_PIN and sku not in skus and position not in positions:
            skus.add(sku)
            positions[position] = PinnedSku(sku, position)
    return tuple(positions.values())


def _terms(fields: _Fields) -> TermsProposal:
    product_id = fields.number("productId")
    if product_id is None:
        raise Invalid.one("required", "Choose the product first.", "#/productId")
    sent = fields.sent.get("terms")
    terms = clean_terms(sent) if isinstance(sent, list) else []
    add = fields.flag("add")
    if add and not terms:
        raise Invalid.one("required", "Write the search term first; then it can be tried.", "#/terms")
    return TermsProposal(product_id, tuple(terms), add)


@dataclass(frozen=True, slots=True)
class _Fields:
    """What was sent, read field by field. Each raises Invalid for what is of another kind."""

    sent: Mapping[str, Any]

    def text(self, name: str, longest: int = LONGEST) -> str | None:
        value = self.sent.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or len(value) > longest:
            raise Invalid.one("invalid_text", f"{name} must be text of at most {longest} characters.", f"#/{name}")
        return " ".join(value.split()) or None

    def texts(self, name: str, most: int) -> tuple[str, ...]:
        value = self.sent.get(name) or []
        if not isinstance(value, list) or len(value) > most:
            raise Invalid.one("too_many", f"{name} must be a list of at most {most}.", f"#/{name}")
        found = (_Fields({name: one}).text(name) for one in value)
        return tuple(dict.fromkeys(text for text in found if text))

    def number(self, name: str) -> int | None:
        """Ids are text in the JSON of the admin."""
        value = self.sent.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(LARGEST_NUMBER)):
            value = int(value)
        if value is not None and not (type(value) is int and 0 < value <= LARGEST_NUMBER):
            raise Invalid.one("invalid_number", f"{name} must be a whole number.", f"#/{name}")
        return value

    def flag(self, name: str) -> bool:
        return self.sent.get(name) is True

    def time(self, name: str) -> datetime | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            raise Invalid.one(
                "invalid_time", f"{name} must be a time such as 2026-11-20T09:00:00Z.", f"#/{name}"
            ) from None

"""A taxonomy as a client sent it: levels and attributes with the place each was read from, and their normalisation.

Reading stops below the deepest level that is allowed, and where there are more records or problems than can be
reviewed. Normalisation gives new records their ids, and trims values and keeps each once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.domain.shared.addresses import slug
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Number, One, Record, Text, Whole
from app.domain.taxonomy.tree import AttributeType

DEEPEST = 8
MOST_RECORDS = 50_000  # Levels and attributes of a taxonomy.
MOST_VALUES_IN_ALL = 300_000  # Allowed values of all its attributes.
MOST_PROBLEMS = 1_000  # Listed at once.
TOO_MANY_PROBLEMS = f"More than {MOST_PROBLEMS:,} things are not as they must be; the rest was not looked at."

LEVEL = Record(
    levelId=Text(allow_none=True),
    name=Text(allow_none=True),
    otherNames=Items(allow_none=True),
    description=Text(allow_none=True),
    parentLevelId=Text(allow_none=True),
    displayOrder=Number(allow_none=True),
    attributes=Items(allow_none=True),
    children=Items(allow_none=True),
)
VALIDATION = Record(
    mandatory=Flag(allow_none=True),
    minLength=Whole(allow_none=True),
    maxLength=Whole(allow_none=True),
    minValue=Number(allow_none=True),
    maxValue=Number(allow_none=True),
    pattern=Text(allow_none=True),
    errorMessage=Text(allow_none=True),
)
ATTRIBUTE = Record(
    attributeId=Text(allow_none=True),
    name=Text(allow_none=True),
    helpText=Text(allow_none=True),
    type=Text(required=True),
    unit=Text(allow_none=True),
    allowedValues=Items(allow_none=True),
    validation=One(VALIDATION, allow_none=True),
    displayOnProductPage=Flag(allow_none=True),
    displayLabel=Text(allow_none=True),
    displayOrder=Number(allow_none=True),
)
TYPES = {kind.value: kind for kind in AttributeType}
PARAMETERS = ("p", "q", "sort", "pageSizeOverride", "price_min", "price_max")
BUILT_IN_FACETS = ("manufacturer", "price", "rating", "onSale", "inStock", "featured")
INDEX_NAMES = ("category", "level", "collection", "sku", "createdAt")
TRACKING = ("gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_gl", "_ga")
RESERVED = frozenset(name.casefold() for name in (*PARAMETERS, *BUILT_IN_FACETS, *INDEX_NAMES, *TRACKING))
LONGEST_GENERATED_ID = 50
NEW = "new-"
InUse = Mapping[str, Collection[str]]  # By the id of a level that products may name, the attribute ids they may hold.
NOTHING_IN_USE: InUse = {}


@dataclass(frozen=True, slots=True)
class StructureProblem(Problem):
    """A problem of a tree. `record` points to the smallest level, attribute, allowed value or other name that holds
    it."""

    level_id: str | None = None
    attribute_id: str | None = None
    record: str = "#"

    def as_json(self) -> dict[str, str]:
        """Return the problem as JSON, with the row to mark."""
        rows = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return Problem.as_json(self) | {name: row for name, row in rows.items() if row is not None}


@dataclass(slots=True)
class AttributeDraft:
    """An attribute as sent. `allowed_values` are by their places in what was sent."""

    at: str
    sent_id: str
    id: str
    name: str
    type: str
    allowed_values: dict[int, Any]
    fields: dict[str, Any]
    validation: dict[str, Any]

    @property
    def known_type(self) -> AttributeType | None:
        return TYPES.get(self.type)

    def value_at(self, place: int) -> str:
        return f"{self.at}/allowedValues/{place}"


@dataclass(slots=True)
class LevelDraft:
    """A level as sent. `sent_id` is its id at the sender; a new one gets another `id`. `other_names` are by their
    places in what was sent."""

    at: str
    sent_id: str
    id: str
    name: str
    description: str
    parent_id: str
    other_names: dict[int, Any] = field(default_factory=dict)
    attributes: list[AttributeDraft] = field(default_factory=list)
    children: list[LevelDraft] = field(default_factory=list)

    def other_name_at(self, place: int) -> str:
        return f"{self.at}/otherNames/{place}"


def every_level(levels: list[LevelDraft]) -> Iterator[LevelDraft]:
    """Yield every level in tree order."""
    for level in levels:
        yield level
        yield from every_level(level.children)


def read_levels(raw: Sequence[Any], pointer: str = "#/rootLevels") -> tuple[list[LevelDraft], list[StructureProblem]]:
    """Return the drafts, and the problems of what is no level or attribute at all. Where there is too much to read,
    there are no drafts, and one of the problems is of the whole tree."""
    reader = _Reader()
    try:
        return [reader.level(item, f"{pointer}/{index}", 1) for index, item in enumerate(raw)], reader.problems
    except _TooLarge as too_large:
        refusal = StructureProblem("too_large", str(too_large), pointer, record="#")
        return [], [*reader.problems[:MOST_PROBLEMS], refusal]


def too_many_problems() -> StructureProblem:
    """Return the problem that stands for those that are not listed."""
    return StructureProblem("too_many_problems", TOO_MANY_PROBLEMS, "#/rootLevels", record="#")


class _TooLarge(Exception):
    """The error of a tree that is too large to read; its message is for people."""


class _Reader:
    def __init__(self) -> None:
        self.problems: list[StructureProblem] = []
        self._records = 0
        self._values = 0

    def level(self, raw: Any, at: str, depth: int) -> LevelDraft:
        """Read a level. Of one that is too deep nothing below is read; validation refuses it."""
        self._count()
        found: list[Problem] = []
        fields = LEVEL.read(raw, at, found)
        level_id = _read_id(fields, "levelId")
        level = LevelDraft(
            at=at,
            sent_id=level_id,
            id=level_id,
            name=_read_text(fields, "name"),
            description=_read_text(fields, "description"),
            parent_id=_read_id(fields, "parentLevelId"),
            other_names=dict(enumerate(fields.get("otherNames") or ())),
        )
        if found:
            self._note(found, level.id, "", at)
        for index, item in enumerate(fields.get("attributes") or ()):
            level.attributes.append(self._attribute(item, f"{at}/attributes/{index}", level.id))
        for index, item in enumerate((fields.get("children") or ()) if depth <= DEEPEST else ()):
            level.children.append(self.level(item, f"{at}/children/{index}", depth + 1))
        return level

    def _attribute(self, raw: Any, at: str, level_id: str) -> AttributeDraft:
        self._count()
        found: list[Problem] = []
        fields = ATTRIBUTE.read(raw, at, found)
        self._count_values(fields.get("allowedValues") or ())
        attribute_id, rules = _read_id(fields, "attributeId"), fields.get("validation") or {}
        draft = AttributeDraft(
            at=at,
            sent_id=attribute_id,
            id=attribute_id,
            name=_read_text(fields, "name"),
            type=_read_text(fields, "type"),
            allowed_values=dict(enumerate(fields.get("allowedValues") or ())),
            fields=fields,
            validation={name: value for name, value in rules.items() if _is_set(value)},
        )
        if found:
            self._note(found, level_id, draft.id, at)
        return draft

    def _count(self) -> None:
        self._records += 1
        if self._records > MOST_RECORDS:
            raise _TooLarge(f"A taxonomy has at most {MOST_RECORDS:,} levels and attributes; these are more.")

    def _count_values(self, values: Sequence[Any]) -> None:
        self._values += len(values)
        if self._values > MOST_VALUES_IN_ALL:
            raise _TooLarge(f"A taxonomy has at most {MOST_VALUES_IN_ALL:,} allowed values; these are more.")

    def _note(self, found: Sequence[Problem], level_id: str, attribute_id: str, at: str) -> None:
        self.problems += [
            StructureProblem(p.code, p.message, p.pointer, level_id or None, attribute_id or None, at) for p in found
        ]
        if len(self.problems) > MOST_PROBLEMS:
            raise _TooLarge(TOO_MANY_PROBLEMS)


def _is_set(value: Any) -> bool:
    """Whether a value of a rule sets anything: None, False and "" do not, 0 does."""
    return not (value is None or value is False or value == "")


def _read_text(fields: Mapping[str, Any], name: str) -> str:
    return (fields.get(name) or "").strip()


def _read_id(fields: Mapping[str, Any], name: str) -> str:
    """Return an id as it was sent, "" for a blank one. White space around it stays, for validation to refuse."""
    sent: str = fields.get(name) or ""
    return sent if sent.strip() else ""


def is_reserved(attribute_id: str) -> bool:
    """Whether an attribute cannot have the id, since addresses and the index use it for something else."""
    folded = attribute_id.casefold()
    return folded in RESERVED or folded.startswith("utm_")


def normalise(
    levels: list[LevelDraft], existing_ids: Collection[str] = (), in_use: InUse = NOTHING_IN_USE
) -> dict[str, str]:
    """Normalise the levels: blank and `new-…` ids that are not existing ones become slugs of the names; allowed values
    and other names are trimmed and kept once each. No new record gets the id of one that is left out and that products
    still name. Returns the new ids by the ids they replace."""
    existing, every = frozenset(existing_ids), list(every_level(levels))
    sent = {level.id for level in every}.union(attribute.id for level in every for attribute in level.attributes)
    are_new = any(_is_new(record_id, existing) for record_id in sent)
    ids = _name_records(levels, every, existing, in_use) if are_new else {}
    for level in every:
        level.other_names = _trim_once(level.other_names)
        for attribute in level.attributes:
            attribute.allowed_values = _trim_once(attribute.allowed_values)
    return ids


def _name_records(
    levels: list[LevelDraft], every: list[LevelDraft], existing: frozenset[str], in_use: InUse
) -> dict[str, str]:
    """Give the new records their ids; return these by the ids they replace."""
    ids: dict[str, str] = {}
    taken = _TakenIds({level.id for level in every} | in_use.keys())
    for level in every:
        if _is_new(level.id, existing):
            _name_level(level, taken.fresh(level.name, "level"), ids)
    stored = _StoredIds(existing, _left_behind(levels, existing, in_use) if in_use else {})
    for level in levels:
        _name_attributes_of_branch(level, _IdsAbove(), stored, ids)
    return ids


def _left_behind(levels: list[LevelDraft], existing: frozenset[str], in_use: InUse) -> dict[str, set[str]]:
    """Return, by the id of each level, the attribute ids that products of it or of a level below may hold values of,
    and that nothing defines there any more."""
    found: dict[str, set[str]] = {}

    def look(level: LevelDraft, above: frozenset[str]) -> set[str]:
        here = above | {attribute.id for attribute in level.attributes if not _is_new(attribute.id, existing)}
        left = set(in_use.get(level.id, ())) - here
        for child in level.children:
            left |= look(child, here)
        found[level.id] = left
        return left

    for level in levels:
        look(level, frozenset())
    return found


def _is_new(record_id: str, existing: Collection[str]) -> bool:
    return not record_id or (record_id.startswith(NEW) and record_id not in existing)


def _name_level(level: LevelDraft, fresh: str, ids: dict[str, str]) -> None:
    """Give a level its new id. Levels below may call it by the id it was sent with."""
    for child in level.children:
        if level.id and child.parent_id == level.id:
            child.parent_id = fresh
    if level.id:
        ids[level.id] = fresh
    level.id = fresh


class _TakenIds:
    """Ids that new records cannot get. A generated one never begins like the id of a new record."""

    def __init__(self, taken: Collection[str], avoids_reserved: bool = False) -> None:
        self.all = set(taken)
        self._avoids_reserved = avoids_reserved
        self._numbers: dict[str, int] = {}

    def fresh(self, name: str, fallback: str) -> str:
        """The name as an id, with the first number that makes it a free one."""
        wanted = slug(name, fallback)[:LONGEST_GENERATED_ID].rstrip("-")
        if wanted.startswith(NEW):
            wanted = "new_" + wanted.removeprefix(NEW)
        number = self._numbers.get(wanted, 1)
        joint = "_" if f"{wanted}-" == NEW else "-"
        while self._is_taken(found := wanted if number == 1 else f"{wanted}{joint}{number}"):
            number += 1
        self._numbers[wanted] = number
        self.all.add(found)
        return found

    def _is_taken(self, record_id: str) -> bool:
        return record_id in self.all or (self._avoids_reserved and is_reserved(record_id))


class _StoredIds(NamedTuple):
    """`existing` ids are no new ones whatever their form. `left_behind` are attribute ids by level, as `_left_behind`
    gives them."""

    existing: frozenset[str]
    left_behind: Mapping[str, Collection[str]]


class _IdsAbove:
    """The attribute ids of the levels above, and those of new attributes among them by the `new-…` ids that they
    replaced."""

    def __init__(self, ids: Collection[str] = (), replaced: Mapping[str, str] | None = None) -> None:
        self.ids = frozenset(ids)
        self.replaced = replaced or {}


def _name_attributes_of_branch(level: LevelDraft, above: _IdsAbove, stored: _StoredIds, ids: dict[str, str]) -> None:
    if level.attributes:
        above = _name_attributes(level, above, stored)
        ids.update(above.replaced)
    for child in level.children:
        _name_attributes_of_branch(child, above, stored, ids)


def _name_attributes(level: LevelDraft, above: _IdsAbove, stored: _StoredIds) -> _IdsAbove:
    """Give the new attributes of a level their ids, and return the ids for the levels below. One that was sent with the
    same id as a new attribute above overrides that."""
    own = {attribute.id for attribute in level.attributes if not _is_new(attribute.id, stored.existing)}
    taken = _TakenIds(above.ids.union(own, stored.left_behind.get(level.id, ())), avoids_reserved=True)
    replaced: dict[str, str] = {}
    for attribute in level.attributes:
        if _is_new(attribute.id, stored.existing):
            _name_attribute(attribute, above, own, taken, replaced)
    return _IdsAbove(above.ids | own, {**above.replaced, **replaced})


def _name_attribute(
    attribute: AttributeDraft, above: _IdsAbove, own: set[str], taken: _TakenIds, replaced: dict[str, str]
) -> None:
    sent = attribute.id
    overridden = above.replaced.get(sent)
    if overridden is None or overridden in own:
        attribute.id = taken.fresh(attribute.name, "attribute")
    else:
        attribute.id = overridden
    own.add(attribute.id)
    if sent:
        replaced[sent] = attribute.id


def _is_clean(texts: list[Any]) -> bool:
    """Whether nothing is to be done, as is the case with nearly all lists."""
    try:
        return len(set(texts)) == len(texts) and [*map(str.strip, texts)] == texts
    except TypeError:
        return False


def _trim_once(values: dict[int, Any]) -> dict[int, Any]:
    """Return the texts trimmed and once each, by place. Values that are no texts stay, for validation to report."""
    texts = list(values.values())
    if _is_clean(texts):
        return values
    seen: set[str] = set()
    kept: dict[int, Any] = {}
    for place, value in values.items():
        if isinstance(value, str):
            value = value.strip()
            if value in seen:
                continue
            seen.add(value)
        kept[place] = value
    return kept

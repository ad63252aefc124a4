"""Queries of the page of synonyms: a few statements, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select

from app.domain.relevance.synonyms.evidence import strength
from app.domain.relevance.synonyms.listing import StatusFilter, SynonymList, SynonymOrder
from app.domain.relevance.synonyms.models import SUGGESTED, Synonym
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving.configuration import is_behind, serving_state
from app.domain.shared.folding import fold
from app.domain.shared.paging import Paged
from app.extensions import db

SHOWN_SUGGESTIONS = 8


@dataclass(frozen=True, slots=True)
class SynonymPage:
    """`waits` is true while something that is saved, or deleted, is not live yet. `suggestions` are the strongest ones;
    `counts` are those of each status."""

    listing: SynonymList
    found: Paged[Synonym]
    state: ServedConfiguration | None
    suggestions: Sequence[Synonym]
    counts: dict[str, int]

    @property
    def waits(self) -> bool:
        return is_behind(self.state)


def synonym_page(site_id: int, listing: SynonymList) -> SynonymPage:
    state = serving_state(site_id)
    return SynonymPage(
        listing=listing,
        found=synonyms(site_id, listing, state),
        state=state,
        suggestions=_strongest(site_id, listing) if listing.status is StatusFilter.LIVE else (),
        counts=_counts(site_id),
    )


def synonyms(site_id: int, listing: SynonymList, state: ServedConfiguration | None) -> Paged[Synonym]:
    """Return a page of synonyms. Words are looked for as search folds them, which no database does, so a light row of
    each synonym is read and the full ones of the page."""
    columns = select(Synonym.id, Synonym.root, Synonym.words).where(*_conditions(site_id, listing, state))
    rows = db.session.execute(columns.order_by(Synonym.updated_at.desc(), Synonym.id.desc())).all()
    wanted = fold(listing.words)
    kept = [row for row in rows if not wanted or wanted in _folded(row.root, row.words)]
    if listing.order is SynonymOrder.WORD:
        kept.sort(key=lambda row: _folded(row.root, row.words))
    if listing.status is StatusFilter.SUGGESTED and listing.order is SynonymOrder.CHANGED:
        kept = _by_strength(kept)
    first = (listing.page - 1) * listing.page_size
    ids = [row.id for row in kept[first : first + listing.page_size]]
    return Paged(_in_order(site_id, ids), listing.page, listing.page_size, len(kept))


def live_synonyms(site_id: int) -> Sequence[Synonym]:
    """Return the live synonyms of a site, by type and words, as they are exported."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.status == StatusFilter.LIVE.value)
    return sorted(db.session.scalars(query), key=lambda synonym: (synonym.type, _folded(synonym.root, synonym.words)))


def _conditions(site_id: int, listing: SynonymList, state: ServedConfiguration | None) -> list[ColumnElement[bool]]:
    conditions = [Synonym.site_id == site_id]
    if listing.type is not None:
        conditions.append(Synonym.type == listing.type.value)
    if listing.status is not StatusFilter.ANY:
        conditions.append(Synonym.status == listing.status.value)
    if listing.waiting:
        conditions += [
            Synonym.status == StatusFilter.LIVE.value,
            Synonym.words_version > (state.live_version if state else 0),
        ]
    return conditions


def _folded(root: str | None, words: Sequence[str]) -> str:
    return fold("\n".join([root, *words] if root else words))


def _by_strength(rows: list[Any]) -> list[Any]:
    query = select(Synonym.id, Synonym.evidence).where(Synonym.id.in_([row.id for row in rows]))
    strengths = {row.id: strength(row.evidence) for row in db.session.execute(query)}
    return sorted(rows, key=lambda row: strengths[row.id], reverse=True)


def _in_order(site_id: int, ids: list[int]) -> list[Synonym]:
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.id.in_(ids))
    found = {synonym.id: synonym for synonym in db.session.scalars(query)}
    return [found[synonym_id] for synonym_id in ids if synonym_id in found]


def _strongest(site_id: int, listing: SynonymList) -> list[Synonym]:
    """Return the strongest of the suggestions that fit the words and the kind of the list."""
    conditions = [Synonym.site_id == site_id, Synonym.status == SUGGESTED]
    if listing.type is not None:
        conditions.append(Synonym.type == listing.type.value)
    waiting = db.session.scalars(select(Synonym).where(*conditions).order_by(Synonym.id))
    wanted = fold(listing.words)
    fitting = [one for one in waiting if not wanted or wanted in _folded(one.root, one.words)]
    return sorted(fitting, key=lambda synonym: strength(synonym.evidence), reverse=True)[:SHOWN_SUGGESTIONS]


def _counts(site_id: int) -> dict[str, int]:
    query = select(Synonym.status, func.count()).where(Synonym.site_id == site_id).group_by(Synonym.status)
    counted: dict[str, int] = {status: number for status, number in db.session.execute(query)}
    return {status.value: counted.get(status.value, 0) for status in StatusFilter if status is not StatusFilter.ANY}

"""Changes of settings, of redirects, and of the locations and agents of the till."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.changes.kinds import RecordKind, State, Undo, states_by_id
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.orders import mails
from app.domain.pos import agents, locations, printing
from app.domain.pos import settings as pos_settings
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.seo import settings as seo_settings
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.seo.models import Redirect
from app.domain.seo.redirects import stored_redirects
from app.domain.seo.redirects.rules import Source
from app.domain.seo.redirects.stored_redirects import FOLLOWED, RedirectDraft, logged_redirect
from app.domain.shared.records import find_record
from app.domain.sites import settings as shop_settings
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import settings_of
from app.extensions import db

PRINTER = "printerAddress"


def _settings_states(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
    name = db.session.scalar(select(Site.name).where(Site.id == site_id))
    return dict.fromkeys(ids, settings_of(site_id) | {shop_settings.NAME: name})


def _lock_settings(site_id: int, _page: str) -> None:
    stored_redirects.lock(site_id)


def _settings_kind(page: str, label: str, change: Callable[[Undo, Mapping[str, Any]], object]) -> RecordKind:
    def revert(undo: Undo, _id: str, changed: State) -> None:
        change(undo, changed or {})

    return RecordKind(
        f"settings_{page}",
        label,
        AuditEntry.action == f"settings.{page}",
        _settings_states,
        revert,
        partial=True,
        lock=_lock_settings,
    )


def _change_seo_settings(undo: Undo, values: Mapping[str, Any]) -> None:
    filters = seo_settings.filter_parameters(read_shop(undo.author.site_id))
    seo_settings.change_seo_settings(undo.author, values, filters)


def _change_mail_settings(undo: Undo, values: Mapping[str, Any]) -> None:
    mails.change_mail_settings(undo.author, mails.PAGE.read(settings_of(undo.author.site_id) | dict(values)))


def _redirect_states(site_id: int, ids: list[int]) -> Mapping[str, State]:
    query = select(Redirect).where(Redirect.site_id == site_id, Redirect.id.in_(ids))
    return {str(row.id): logged_redirect(row) for row in db.session.scalars(query)}


def _revert_redirect(undo: Undo, redirect_id: str, changed: State) -> None:
    """Change a redirect back; None deletes it, and one that is gone is restored."""
    author, id = undo.author, int(redirect_id)
    row = find_record(Redirect, author.site_id, id)
    if changed is None:
        stored_redirects.remove(author, id)
    elif row is None:
        stored_redirects.restore(author, *_shop(undo), id, changed)
    else:
        wanted = {**logged_redirect(row), **changed}
        draft = RedirectDraft(wanted["from"], wanted["to"])
        stored_redirects.save(author, *_shop(undo), id, row.revision, draft, Source(row.source))


def _shop(undo: Undo) -> tuple[Shop, LandingPagesOf]:
    shop = read_shop(undo.author.site_id)
    return shop, undo.landing_pages(shop)


def _location_states(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
    query = select(PosLocation).where(PosLocation.site_id == site_id, PosLocation.location_id.in_(ids))
    return {
        row.location_id: locations.logged_location(row) | {PRINTER: row.printer_address}
        for row in db.session.scalars(query)
    }


def _lock_location(site_id: int, location_id: str) -> None:
    locations.location_at(site_id, location_id, to_change=True)


def _revert_location(undo: Undo, location_id: str, changed: State) -> None:
    row, values = locations.location_at(undo.author.site_id, location_id), changed or {}
    if PRINTER in values:
        printing.change_printer(undo.author, location_id, row.revision, values[PRINTER])
        return
    fields, enabled = locations.read_logged({**locations.logged_location(row), **values})
    locations.edit(undo.author, location_id, row.revision, fields, enabled, undo.may_share)


def _agent_states(site_id: int, ids: list[int]) -> Mapping[str, State]:
    query = select(PosAgent).where(PosAgent.site_id == site_id, PosAgent.id.in_(ids))
    found = db.session.scalars(query.options(selectinload(PosAgent.locations)))
    return {str(agent.id): agents.logged_agent(agent) for agent in found}


def _lock_agent(site_id: int, agent_id: str) -> None:
    find_record(PosAgent, site_id, int(agent_id), to_change=True)


def _revert_agent(undo: Undo, agent_id: str, changed: State) -> None:
    agent = agents.agent_of(undo.author.site_id, int(agent_id))
    fields = agents.read_logged({**agents.logged_agent(agent), **(changed or {})})
    agents.save(undo.author, agent.id, agent.revision, fields)


# Undoing one would leave the other redirects that changed with it as they are.
ALONE = AuditEntry.after[FOLLOWED].as_string().is_(None)
SHOP_KINDS = (
    RecordKind(
        "redirect",
        "Redirects",
        AuditEntry.action.in_(("redirect.create", "redirect.save", "redirect.delete")) & ALONE,
        states_by_id(_redirect_states),
        _revert_redirect,
        partial=True,
        fields=frozenset(("from", "to", "reach", "source")),
        lock=lambda site_id, _id: stored_redirects.lock(site_id),
    ),
    _settings_kind("seo", "SEO settings", _change_seo_settings),
    _settings_kind(
        "shop",
        "Settings of the shop",
        lambda undo, values: shop_settings.change_shop_settings(undo.author, values, undo.themes),
    ),
    _settings_kind(
        "pos",
        "Settings of Mobile POS",
        lambda undo, values: pos_settings.change(undo.author, values, undo.may_share),
    ),
    _settings_kind("order_mails", "Emails about orders", _change_mail_settings),
    RecordKind(
        "pos_location",
        "Locations",
        AuditEntry.action.in_(("pos_location.save", "pos_location.printer")),
        _location_states,
        _revert_location,
        partial=True,
        lock=_lock_location,
    ),
    RecordKind(
        "pos_agent",
        "Agents",
        AuditEntry.action == "pos_agent.save",
        states_by_id(_agent_states),
        _revert_agent,
        partial=True,
        lock=_lock_agent,
    ),
)

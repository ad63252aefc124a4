"""The settings of a site as they are stored: read with their defaults, and changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.upserting import upsert
from app.domain.sites import versioning
from app.domain.sites.models import Setting
from app.domain.sites.setting_keys import SETTINGS
from app.extensions import db


class SiteSettings(dict[str, Any]):
    """All settings of a site by key, defaults filled in."""


def settings_of(site_id: int) -> SiteSettings:
    rows = db.session.execute(select(Setting.key, Setting.value).where(Setting.site_id == site_id))
    stored = {key: value for key, value in rows if key in SETTINGS}
    return SiteSettings({key: stored.get(key, setting.default) for key, setting in SETTINGS.items()})


def change_settings(site_id: int, changes: Mapping[str, object]) -> dict[str, tuple[Any, Any]]:
    """Store changes of settings; return (before, after) of every key whose value changed. Raises Invalid with every
    problem."""
    problems = [problem for key, value in changes.items() if (problem := _problem(key, value))]
    if problems:
        raise Invalid(problems)
    current = settings_of(site_id)
    changed = {key: (current[key], value) for key, value in changes.items() if current[key] != value}
    if changed:
        # The session does not see what statements change. The site's row comes first, as where others lock it: two that
        # store the same settings in another order take turns at it, and do not wait for each other.
        versioning.touch(db.session(), [site_id])
    for key, (_, value) in changed.items():
        _store(site_id, key, value)
    return changed


def _store(site_id: int, key: str, value: Any) -> None:
    """Store a setting, also where another transaction stores it at the same moment: the later one holds. One that
    equals the default has no record: None, which is the default of some keys, cannot be stored."""
    if value == SETTINGS[key].default:
        record = delete(Setting).where(Setting.site_id == site_id, Setting.key == key)
        db.session.execute(record, execution_options={"synchronize_session": False})
        return
    statement = upsert(Setting).values(site_id=site_id, key=key, value=value)
    stored = {"value": statement.excluded.value}
    db.session.execute(statement.on_conflict_do_update(index_elements=["site_id", "key"], set_=stored))


def _problem(key: str, value: object) -> Problem | None:
    setting = SETTINGS.get(key)
    if setting is None:
        return Problem("unknown_setting", f"There is no setting {key}.", f"#/settings/{key}")
    if not setting.accepts(value):
        return Problem("invalid_setting", f"{key} does not take the value {value!r}.", f"#/settings/{key}")
    return None

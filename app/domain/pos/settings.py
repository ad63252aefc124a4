"""The settings of the till as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.pos.locations import (
    ACCOUNT_SETTING,
    LOCATION_SETTING,
    account_problems,
    find_location,
    seed_first,
    taken_problems,
)
from app.domain.pos.rules import id_problems
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem
from app.domain.sites import activity
from app.domain.sites.setting_keys import SETTINGS, TILL, SettingsPage
from app.domain.sites.settings import change_settings, settings_of

LARGEST, ROUNDING = "posMaxTransactionAmount", "posCashRounding"


@dataclass(frozen=True, slots=True)
class PosSettings:
    """The settings of the till. An empty id is none; `largest` is in minor units, None where no amount was entered.
    Cash is rounded to a multiple of `cash_rounding` minor units, 0 for none."""

    is_enabled: bool
    location_id: str
    account_id: str
    allows_quick_payments: bool
    largest: int | None
    allows_cash: bool
    cash_rounding: int
    allows_tips: bool
    requires_unlock: bool


PAGE = SettingsPage(TILL, PosSettings)


def stored_settings(site_id: int) -> PosSettings:
    return PAGE.read(settings_of(site_id))


def change(author: Author, values: Mapping[str, object], may_share: bool = False) -> list[str]:
    """Save some of the settings of the till, in their stored form; return the labels of those that changed. A location
    that is named and that the shop does not have yet is added. `may_share`: also an account or a location of another
    site. Raises Invalid with every problem."""
    wanted = PAGE.read(settings_of(author.site_id) | dict(values))
    problems = _problems(wanted) + ([] if may_share else _problems_elsewhere(author.site_id, wanted))
    if problems:
        raise Invalid(problems)
    changed = change_settings(author.site_id, values)
    if changed:
        before, after = ({key: pair[place] for key, pair in changed.items()} for place in (0, 1))
        activity.record(
            author, "settings.pos", ("settings", "pos"), "Changed the settings of Mobile POS", before, after
        )
    seed_first(author)
    return [PAGE.titles[key] for key in changed]


def _problems_elsewhere(site_id: int, wanted: PosSettings) -> list[Problem]:
    """Return the problems of a new account or location that belongs to another shop."""
    stored = stored_settings(site_id)
    problems: list[Problem] = []
    if wanted.account_id != stored.account_id:
        problems += account_problems(site_id, wanted.account_id, f"#/{ACCOUNT_SETTING}")
    if wanted.location_id and find_location(site_id, wanted.location_id) is None:
        problems += taken_problems(site_id, wanted.location_id, f"#/{LOCATION_SETTING}")
    return problems


def _problems(wanted: PosSettings) -> list[Problem]:
    problems: list[Problem] = []
    if wanted.location_id:
        problems += id_problems(wanted.location_id, "The location", f"#/{LOCATION_SETTING}")
    if wanted.account_id:
        problems += id_problems(wanted.account_id, "The account", f"#/{ACCOUNT_SETTING}")
    if wanted.largest is None or not SETTINGS[LARGEST].accepts(wanted.largest):
        message = "The largest payment must be an amount from 0.01 to 999,999.99."
        problems.append(Problem("amount_invalid", message, f"#/{LARGEST}"))
    if not SETTINGS[ROUNDING].accepts(wanted.cash_rounding):
        problems.append(Problem("invalid_choice", "Cash is rounded to 0, 5 or 10.", f"#/{ROUNDING}"))
    return problems

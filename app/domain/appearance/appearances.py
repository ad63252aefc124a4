"""The appearance of a site: read, saved, and brought back as it was before. Call the writing functions in a
transaction."""

from __future__ import annotations

from app.domain.appearance.declaration import Appearance, appearance_problems
from app.domain.appearance.models import StoredAppearance
from app.domain.sites.site_values import Described, SavedValue, SiteValues

SavedAppearance = SavedValue[Appearance]


def _describe(site_id: int, before: Appearance, after: Appearance) -> Described:
    """Return the fields that differ, by their labels."""
    old, new = before.as_json(), after.as_json()
    changed = [key for key in new if old[key] != new[key]]
    labelled = [Appearance.describe({key: side[key] for key in changed}) for side in (old, new)]
    names = {each for each in labelled[0] if labelled[0][each] != labelled[1][each]} or set(labelled[0])
    states = [{name: value for name, value in side.items() if name in names} for side in labelled]
    return states[0], states[1]


def _pictures_of_both(value: Appearance, before: Appearance) -> dict[str, list[str]]:
    """Return the files that undo needs besides those in use, so that none is gone by then."""
    return {"files": sorted({*value.files, *before.files})}


APPEARANCES = SiteValues(
    StoredAppearance,
    Appearance(),
    "appearance",
    "the shop’s appearance",
    appearance_problems,
    _describe,
    _pictures_of_both,
)
appearance_of = APPEARANCES.of
saved_appearance = APPEARANCES.saved
read_sent = APPEARANCES.read_sent
save_appearance = APPEARANCES.save

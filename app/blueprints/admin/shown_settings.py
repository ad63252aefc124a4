"""What a whole form of settings was opened with. The form carries it in a hidden field, so that saving changes only
what was changed in the form and leaves what others changed meanwhile; of two changes of one setting the later holds."""

from __future__ import annotations

import json
from collections.abc import Mapping

from app.domain.shared import strict_json

MOST_MARKS = 5_000


def shown_settings(stored: Mapping[str, object]) -> str:
    """Return the value of the hidden field for settings in their stored form, by the key of each."""
    return json.dumps(dict(stored))


def changes_since(shown: str, wanted: Mapping[str, object]) -> dict[str, object]:
    """Return those of the wanted settings, in their stored form, that differ from what was `shown`; all of them where
    that is missing or no JSON object."""
    before = _read(shown)
    return {key: value for key, value in wanted.items() if key not in before or before[key] != value}


def _read(shown: str) -> Mapping[str, object]:
    try:
        found = strict_json.loads(shown, MOST_MARKS)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

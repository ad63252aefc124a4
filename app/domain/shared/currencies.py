"""Currencies by their codes (ISO 4217, in lower case), with the names that people choose from. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

NAMES: Mapping[str, str] = json.loads(Path(__file__).with_name("currencies.json").read_text(encoding="utf-8"))

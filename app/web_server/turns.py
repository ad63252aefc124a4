"""How the threads of a web process take turns."""

from __future__ import annotations

import sys

TURN = 0.001  # Seconds.


def take_short_turns() -> None:
    """Make a computing thread give way to others each millisecond. With Python's default of five, a search of half a
    millisecond waits fifteen while three pages are rendered."""
    sys.setswitchinterval(TURN)

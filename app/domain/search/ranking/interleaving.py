"""Team-draft interleaving of two orders of one search: the present one and a candidate, in one list in which shoppers
choose between them without knowing. Pure.

The draft goes in rounds. Where both orders have the same product next, it is placed and belongs to neither side: to
open it says nothing about them. Otherwise each side places the product that it has next, in an order that a coin
decides. So every product of a side has a rival of the other beside it, each of the two as often first, and shoppers who
open what stands on top, whatever it is, open as many of one side as of the other. What a draft places does not depend
on the coins but in its last place, only which of two neighbours is first.

The coins follow from a seed, so that a page that is loaded again, or a later page, continues the same order. The seeds
are few, so that many shoppers have the same, and come in pairs of opposite coins, so that they favour neither side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from itertools import cycle

SEEDS = 1_000
DEPTH = 24  # Places of a first page that are drafted; the present order goes on behind them.
FEWEST_DIGITS_OF_CODE = 5
_BITS_OF_BYTE = 8
_KEY = re.compile(r"both-([1-9][0-9]{0,8})-([0-9]{1,3})", re.ASCII)


class Side(StrEnum):
    PRESENT = "present"
    CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class DraftKey:
    """What a draft follows from besides the two orders and the words: the comparison that it is for, and the seed of
    its coins, one of SEEDS."""

    comparison_id: int
    seed: int

    @classmethod
    def read(cls, text: str) -> DraftKey | None:
        """Return the key of a text that `str` wrote, None for any other."""
        found = _KEY.fullmatch(text)
        return cls(int(found[1]), int(found[2])) if found else None

    def __str__(self) -> str:
        return f"both-{self.comparison_id}-{self.seed}"

    def coins(self, words: str) -> Iterator[bool]:
        """Yield the coins of one search, without end. The seeds `2n` and `2n + 1` have opposite ones."""
        half, is_opposite = divmod(self.seed, 2)
        digest = blake2b(f"{self.comparison_id}\0{half}\0{words}".encode()).digest()
        bits = [bool(byte >> bit & 1) for byte in digest for bit in range(_BITS_OF_BYTE)]
        return (bit is not bool(is_opposite) for bit in cycle(bits))


@dataclass(frozen=True, slots=True)
class Pick:
    """A document of a draft, and the side that placed it; None where both did, or the other had nothing left."""

    id: str
    side: Side | None


def draft(present: Sequence[str], candidate: Sequence[str], depth: int, coins: Iterator[bool]) -> tuple[Pick, ...]:
    """Return the first `depth` documents of both orders, which are ids, best first. A coin that is true lets the
    candidate go first in its round."""
    picks: list[Pick] = []
    placed: set[str] = set()
    while len(picks) < depth:
        ours, theirs = (next((id for id in order if id not in placed), None) for order in (present, candidate))
        if ours is None or theirs is None or ours == theirs:
            only = ours if ours is not None else theirs
            if only is None:
                break
            picks.append(Pick(only, None))
        else:
            pair = [Pick(ours, Side.PRESENT), Pick(theirs, Side.CANDIDATE)]
            picks += reversed(pair) if next(coins) else pair
        placed.update(pick.id for pick in picks[-2:])
    return tuple(picks[:depth])


def is_included(seed: int, share: int) -> bool:
    """Whether visits with this seed take part in a comparison that `share` percent of all visits see."""
    return seed // 2 % 100 < share


def may_hold_code(words: str) -> bool:
    """Whether a search may be for a code: a word of it has digits and letters, or FEWEST_DIGITS_OF_CODE digits. What a
    code names stands first in any order."""
    return any(map(_may_be_code, re.findall(r"[\w.\-/]+", words)))


def _may_be_code(word: str) -> bool:
    digits = sum(map(str.isdigit, word))
    return digits >= FEWEST_DIGITS_OF_CODE or bool(digits and any(map(str.isalpha, word)))

"""The kind of product that the words mean, by the index's own statistics.

The share of a kind's products that answer the words says what the words name: nearly every laptop answers "laptop"
and only some bags do. Products of a kind are lifted by the square of that share, compared with the kind that has the
largest. The functions take a number or an array of numbers alike.
"""

from __future__ import annotations

from app.domain.search.ranking.weights import Amount

KIND = "level"  # The name of the values that say of what kind a document is.
LIFT = 0.5
# Kinds of few products prove little; this many that do not answer are added to each.
DOUBT = 10


def share_of_kind(answering: Amount, documents: Amount) -> Amount:
    """Return the share of a kind's documents that answer the words."""
    return answering / (documents + DOUBT)


def lift(share: Amount, largest: float) -> Amount:
    """Return the factor for the scores of a kind's documents."""
    return 1 + LIFT * (share / largest) ** 2

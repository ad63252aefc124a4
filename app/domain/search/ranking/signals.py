"""How much sales, newness and stock count beside the words.

Each signal is a share between 0 and 1 that lifts the score of a document, with a weight of none, low, medium or high.
The lifts are bounded: a document that scores more than MOST_LIFT times as much by its words stays ahead, whatever is
set. The functions take a number or an array of numbers alike.
"""

from __future__ import annotations

from app.domain.search.ranking.weights import Amount
from app.domain.search.ranking_settings import RankingSettings, Weight

SALES = "_sales"  # Units sold in the last 90 days; no attribute may have such a name.
LOW_STOCK = "_lowStock"  # Units left, where they are few.
CREATED = "createdAt"  # Seconds since 1970.
IN_STOCK, YES = "inStock", "true"
NEW_DAYS = 60  # After so many days a product is half as new.
FEW_LEFT = 5  # Units.
FEW_SHARE = 0.5  # A product with few left, beside one with enough.
SECONDS_A_DAY = 86_400
LIFTS = {Weight.NONE: 0.0, Weight.LOW: 0.1, Weight.MEDIUM: 0.2, Weight.HIGH: 0.3}
MOST_LIFT = (1 + max(LIFTS.values())) ** len(RankingSettings.DEFAULT.weights)  # Of all signals together.


def lift(weight: Weight, share: Amount) -> Amount:
    """Return the factor for the scores of documents."""
    return 1 + LIFTS[weight] * share


def sales_share(logarithm: Amount, largest: float) -> Amount:
    """Return the share by units sold, given as log(1 + units) beside that of the shop's best seller: ten more matter to
    a product that sold two, and little to one that sold hundreds."""
    return logarithm / largest


def newness_share(created: Amount, day: int) -> Amount:
    """Return the share by age on a day, counted from 1970: 1 on the day of its creation, half after NEW_DAYS."""
    days = day - created // SECONDS_A_DAY
    return 0.5 ** (days * (days > 0) / NEW_DAYS)


def stock_share(in_stock: Amount, has_few: Amount) -> Amount:
    """Return the share by what is left: enough, few or none. What is not counted is enough."""
    return in_stock * (1 - (1 - FEW_SHARE) * has_few)

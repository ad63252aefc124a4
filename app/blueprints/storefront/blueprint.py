"""The storefront's blueprint; the views of each kind of page register on it beside their code."""

from __future__ import annotations

from flask import Blueprint, current_app, g
from flask.blueprints import BlueprintSetupState
from flask.sansio.app import App
from sqlalchemy.exc import SQLAlchemyError

from app import ports
from app.blueprints.hosts import asked_host
from app.blueprints.storefront.keeping import KeptParts
from app.blueprints.storefront.pace import BASKETS, SEARCHES, Pace
from app.domain.merchandising.shop import Shop, ShopWindow
from app.domain.search.live.publishing import STOP_WORDS
from app.domain.search.live.served import Served
from app.domain.search.live.window import WordsWindow
from app.domain.shared.problems import NotFound
from app.extensions import csrf

bp = Blueprint("storefront", __name__)
csrf.exempt(bp)  # A token would need a session, and with it pages that differ for everybody; see origin.py.
WINDOW = "shop-window"
WORDS = "shop-words-window"
KEPT_LISTINGS = "shop-kept-listings"
KEPT_CARDS = "shop-kept-cards"
LISTINGS = 200  # A listing is some 30 kB and a card 0.5 kB, so that a process keeps a few megabytes.
CARDS = 5_000


@bp.record_once
def _begin(state: BlueprintSetupState) -> None:
    keep_nothing_yet(state.app)


def keep_nothing_yet(app: App) -> None:
    """The memory of a process that begins."""
    app.extensions[WINDOW] = ShopWindow()
    app.extensions[WORDS] = WordsWindow()
    app.extensions[KEPT_LISTINGS] = KeptParts(LISTINGS)
    app.extensions[KEPT_CARDS] = KeptParts(CARDS)
    app.extensions[SEARCHES], app.extensions[BASKETS] = Pace(), Pace()


def current_shop() -> Shop:
    """The shop of the host that was asked. Raises NotFound for a host that is no shop's."""
    if "shop" not in g:
        window: ShopWindow = current_app.extensions[WINDOW]
        g.shop = window.shop_at(ports.clock(), asked_host())
    shop: Shop = g.shop
    return shop


def served_words(shop: Shop) -> Served:
    """The synonyms, rules and stop words that shoppers are served now."""
    window: WordsWindow = current_app.extensions[WORDS]
    return window.served(ports.clock(), shop.site_id, shop.settings[STOP_WORDS])


def kept_listings() -> KeptParts:
    kept: KeptParts = current_app.extensions[KEPT_LISTINGS]
    return kept


def kept_cards() -> KeptParts:
    kept: KeptParts = current_app.extensions[KEPT_CARDS]
    return kept


def shop_or_none() -> Shop | None:
    """For pages that must also be drawn where no shop is, or none can be read."""
    try:
        return current_shop()
    except (NotFound, SQLAlchemyError):
        return None

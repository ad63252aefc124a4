"""The storefront's blueprint; the views of each kind of page register on it beside their code."""

from __future__ import annotations

from flask import Blueprint, current_app, g
from flask.blueprints import BlueprintSetupState

from app import ports
from app.blueprints.hosts import asked_host
from app.domain.merchandising.shop import Shop, ShopWindow
from app.domain.shared.problems import NotFound

bp = Blueprint("storefront", __name__)
WINDOW = "shop-window"


@bp.record_once
def _keep_window(state: BlueprintSetupState) -> None:
    state.app.extensions[WINDOW] = ShopWindow()


def current_shop() -> Shop:
    """The shop of the host that was asked. Raises NotFound for a host that is no shop's."""
    if "shop" not in g:
        window: ShopWindow = current_app.extensions[WINDOW]
        g.shop = window.shop_at(ports.clock(), asked_host())
    shop: Shop = g.shop
    return shop


def shop_or_none() -> Shop | None:
    """For pages that must also be drawn where no shop is."""
    try:
        return current_shop()
    except NotFound:
        return None

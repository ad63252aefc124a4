"""The key under which mails to one recipient are counted, for every surface that has them sent."""

from __future__ import annotations

from flask import current_app

from app.config import Config
from app.domain.orders.limits import RECIPIENT_KEY_PURPOSE


def recipient_key() -> bytes:
    config: Config = current_app.config["SHOP"]
    return config.key_for(RECIPIENT_KEY_PURPOSE)

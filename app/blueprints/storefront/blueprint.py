"""The storefront's blueprint; the views of each kind of page register on it beside their code."""

from __future__ import annotations

from flask import Blueprint

bp = Blueprint("storefront", __name__)

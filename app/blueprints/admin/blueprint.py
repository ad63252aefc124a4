"""The admin's blueprint; the views of each section register on it beside their code."""

from __future__ import annotations

from flask import Blueprint

bp = Blueprint("admin", __name__, url_prefix="/admin")

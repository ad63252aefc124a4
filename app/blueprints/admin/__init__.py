"""The admin. Importing the modules registers their views."""

from app.blueprints.admin import display, shell, sign_in
from app.blueprints.admin.blueprint import bp

__all__ = ["bp", "display", "shell", "sign_in"]

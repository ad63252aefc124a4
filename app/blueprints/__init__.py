"""The views of all surfaces: health, files, the admin, /v1 and the storefront."""

from __future__ import annotations

from flask import Flask

from app.blueprints import admin, health, media, static_files, storefront, till, v1


def register_blueprints(app: Flask) -> None:
    app.register_blueprint(health.bp)
    app.register_blueprint(media.bp)
    app.register_blueprint(static_files.bp)
    app.register_blueprint(admin.bp)
    v1.register(app)
    app.register_blueprint(till.bp)
    app.register_blueprint(storefront.bp)

"""The API for other programs: bearer tokens, JSON, described by OpenAPI."""

from __future__ import annotations

from flask import Flask

from app.blueprints.v1 import (
    auth,
    baskets,
    categories,
    description,
    merchandising,
    passkeys,
    pos_agents,
    pos_cash,
    pos_configuration,
    pos_movements,
    pos_offline,
    pos_payments,
    pos_printing,
    pos_readers,
    pos_receipts,
    pos_refunds,
    pos_sessions,
    pos_simulator,
    pos_transactions,
    reader,
    taxonomies,
    webhooks,
)
from app.blueprints.v1.api import ProblemApi
from app.blueprints.v1.description import describe_problems, describe_tokens, spec_options


def register(app: Flask) -> None:
    api = ProblemApi(app, spec_kwargs=spec_options())
    describe_problems(api.spec)
    for bp in (
        auth.bp,
        passkeys.bp,
        pos_agents.bp,
        pos_configuration.bp,
        pos_payments.bp,
        pos_readers.bp,
        pos_cash.bp,
        pos_movements.bp,
        pos_offline.bp,
        pos_transactions.bp,
        pos_refunds.bp,
        pos_receipts.bp,
        pos_printing.bp,
        pos_sessions.bp,
        pos_simulator.bp,
        categories.bp,
        baskets.bp,
        merchandising.bp,
        taxonomies.bp,
        webhooks.bp,
    ):
        api.register_blueprint(bp)
    describe_tokens(api.spec)
    app.register_blueprint(description.bp)
    app.register_blueprint(reader.bp)

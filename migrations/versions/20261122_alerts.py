"""Alerts, the messages about them, and jobs that keep failing

Revision: 9d27c6a1be04
Follows: 4f0c2b7d91e3
Date: 2026-11-22 09:50:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "9d27c6a1be04"
down_revision = "4f0c2b7d91e3"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=True),
        sa.Column("cause", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("notified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("end_notified_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_alerts_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
    )
    op.create_index(op.f("ix_alerts_ended_at"), "alerts", ["ended_at"])
    _unique("alerts_open", "alerts", ["cause", "subject"], "ended_at is null and ")
    op.create_table(
        "alert_messages",
        sa.Column("alert_id", sa.Integer(), nullable=False),
        sa.Column("channel", sa.String(length=20), nullable=False),
        sa.Column("is_about_end", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["alert_id"], ["alerts.id"], name=op.f("fk_alert_messages_alert_id_alerts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("alert_id", "channel", "is_about_end", name=op.f("pk_alert_messages")),
    )
    op.create_table(
        "job_failures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=True),
        sa.Column("job", sa.String(length=100), nullable=False),
        sa.Column("in_a_row", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_job_failures_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_failures")),
    )
    _unique("job_failures", "job_failures", ["job"], "")


def _unique(name: str, table: str, columns: list[str], where: str) -> None:
    of_sites, of_machine = sa.text(f"{where}site_id is not null"), sa.text(f"{where}site_id is null")
    op.create_index(
        f"uq_{name}_of_site",
        table,
        ["site_id", *columns],
        unique=True,
        sqlite_where=of_sites,
        postgresql_where=of_sites,
    )
    op.create_index(
        f"uq_{name}_of_machine", table, columns, unique=True, sqlite_where=of_machine, postgresql_where=of_machine
    )


def downgrade() -> None:
    for table in ("job_failures", "alert_messages", "alerts"):
        op.drop_table(table)

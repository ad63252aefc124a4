"""Alerts

Revision: 76f1fbc976fc
Follows: 4aface0772ed
Date: 2026-11-24 19:02:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "76f1fbc976fc"
down_revision = "4aface0772ed"
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
    op.create_index(op.f("ix_alerts_ended_at"), "alerts", ["ended_at"], unique=False)
    op.create_index(
        "uq_alerts_open_of_machine",
        "alerts",
        ["cause", "subject"],
        unique=True,
        sqlite_where=sa.text("ended_at is null and site_id is null"),
        postgresql_where=sa.text("ended_at is null and site_id is null"),
    )
    op.create_index(
        "uq_alerts_open_of_site",
        "alerts",
        ["site_id", "cause", "subject"],
        unique=True,
        sqlite_where=sa.text("ended_at is null and site_id is not null"),
        postgresql_where=sa.text("ended_at is null and site_id is not null"),
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
    op.create_index(
        "uq_job_failures_of_machine",
        "job_failures",
        ["job"],
        unique=True,
        sqlite_where=sa.text("site_id is null"),
        postgresql_where=sa.text("site_id is null"),
    )
    op.create_index(
        "uq_job_failures_of_site",
        "job_failures",
        ["site_id", "job"],
        unique=True,
        sqlite_where=sa.text("site_id is not null"),
        postgresql_where=sa.text("site_id is not null"),
    )
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


def downgrade() -> None:
    op.drop_table("alert_messages")
    op.drop_table("job_failures")
    op.drop_table("alerts")

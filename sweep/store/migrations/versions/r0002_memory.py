"""Revision 0002: memory before a trial, images at once, and how many did not fit."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("sweep_epochs", sa.Column("baseline_memory_bytes", sa.BigInteger()))
    op.add_column("sweep_epochs", sa.Column("micro_batch", sa.Integer()))
    op.create_table(
        "sweep_limits",
        sa.Column("device_name", sa.Text(), primary_key=True),
        sa.Column("memory_bytes", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("recipe_hash", sa.Text(), primary_key=True),
        sa.Column("precision", sa.Text(), primary_key=True),
        sa.Column("optimizer", sa.Text(), primary_key=True),
        sa.Column("fits", sa.Integer()),
        sa.Column("too_large", sa.Integer()),
    )

"""Revision 0004: trials that count for nothing, and what became of a request."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column(
        "sweep_trials",
        sa.Column("excluded", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column("sweep_requests", sa.Column("trial", sa.Integer()))
    op.add_column("sweep_requests", sa.Column("refusal", sa.Text()))

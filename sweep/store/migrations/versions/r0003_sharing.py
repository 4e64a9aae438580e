"""Revision 0003: how many devices an attempt had, and how many trials shared one in an epoch."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("sweep_attempts", sa.Column("num_devices", sa.Double()))
    op.add_column("sweep_epochs", sa.Column("num_sharing", sa.Integer()))

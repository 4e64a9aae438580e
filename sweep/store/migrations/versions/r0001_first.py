"""Revision 0001: studies, spaces, trials, attempts, epochs, leases and requests."""

import sqlalchemy as sa
from alembic import op

from sweep.store.schema import UtcDateTime

revision = "0001"
down_revision = None

_STATES = "state IN ('waiting', 'running', 'complete', 'pruned', 'failed')"


def upgrade() -> None:
    _studies()
    _trials()
    _attempts()
    _epochs()
    _leadership()


def _id() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _study_key(*, primary_key: bool = False) -> "sa.Column[int]":
    target = sa.ForeignKey("sweep_studies.id", ondelete="CASCADE")
    return sa.Column("study_id", _id(), target, nullable=False, primary_key=primary_key)


def _studies() -> None:
    op.create_table(
        "sweep_studies",
        sa.Column("id", _id(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("spec_hash", sa.Text(), nullable=False),
        sa.Column("space_version", sa.Integer(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("versions", sa.Text(), nullable=False),
        sa.Column("git_commit", sa.Text()),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.UniqueConstraint("name", name="uq_sweep_studies_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sweep_spaces",
        _study_key(primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("spec_hash", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
    )


def _trials() -> None:
    op.create_table(
        "sweep_trials",
        _study_key(primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("space_version", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("enqueued", sa.Boolean(), nullable=False),
        sa.Column("cause", sa.Text()),
        sa.Column("value", sa.Double()),
        sa.Column("message", sa.Text()),
        sa.Column("tuner_attrs", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("started_at", UtcDateTime()),
        sa.Column("finished_at", UtcDateTime()),
        sa.CheckConstraint(_STATES, name="ck_sweep_trials_state"),
    )


def _attempts() -> None:
    op.create_table(
        "sweep_attempts",
        sa.Column("study_id", _id(), primary_key=True),
        sa.Column("trial", sa.Integer(), primary_key=True),
        sa.Column("attempt", sa.Integer(), primary_key=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text()),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.BigInteger()),
        sa.Column("num_slots", sa.Integer(), nullable=False),
        sa.Column("log", sa.Text()),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("finished_at", UtcDateTime()),
        sa.Column("message", sa.Text()),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id", "trial"],
            ["sweep_trials.study_id", "sweep_trials.number"],
            name="fk_sweep_attempts_trial",
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(_STATES, name="ck_sweep_attempts_state"),
    )


def _epochs() -> None:
    op.create_table(
        "sweep_epochs",
        sa.Column("study_id", _id(), primary_key=True),
        sa.Column("trial", sa.Integer(), primary_key=True),
        sa.Column("epoch", sa.Integer(), primary_key=True),
        sa.Column("attempt", sa.Integer(), primary_key=True),
        sa.Column("metrics", sa.Text(), nullable=False),
        sa.Column("lr", sa.Double()),
        sa.Column("epoch_s", sa.Double(), nullable=False),
        sa.Column("images_per_s", sa.Double()),
        sa.Column("peak_memory_bytes", sa.BigInteger()),
        sa.Column("checkpoint_epoch", sa.Integer()),
        sa.Column("checkpoint_path", sa.Text()),
        sa.Column("checkpoint_sha256", sa.Text()),
        sa.Column("stored_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id", "trial", "attempt"],
            ["sweep_attempts.study_id", "sweep_attempts.trial", "sweep_attempts.attempt"],
            name="fk_sweep_epochs_attempt",
            ondelete="CASCADE",
        ),
    )


def _leadership() -> None:
    op.create_table(
        "sweep_leases",
        _study_key(primary_key=True),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("process_started_at_s", sa.Double(), nullable=False),
        sa.Column("expires_at_s", sa.Double(), nullable=False),
        sa.Column("is_released", sa.Boolean(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
    )
    op.create_table(
        "sweep_requests",
        sa.Column("id", _id(), primary_key=True),
        _study_key(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("finished_at", UtcDateTime()),
        sa.Index("ix_sweep_requests_study", "study_id", "finished_at"),
        sqlite_autoincrement=True,
    )

"""The tables: their columns, types and keys, the same on SQLite and PostgreSQL.

Every name starts with `sweep_`, because Optuna keeps its own tables in the same database; no key
points at those. JSON lies in text columns, so that the order of keys and the difference between
1 and 1.0 stay as they were written.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from sweep.records import TrialState

VERSION_TABLE = "sweep_alembic_version"

_STATES = ", ".join(f"'{state}'" for state in TrialState)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment in UTC: a timestamp with time zone, or ISO 8601 text on SQLite."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(32))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        assert value.tzinfo is not None, "a moment without a time zone"
        moment = value.astimezone(UTC)
        return moment.isoformat(timespec="microseconds") if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return moment if moment.tzinfo is UTC else moment.astimezone(UTC)


class database_now_s(FunctionElement[float]):
    """Seconds since 1970 by the database's clock."""

    type = Double()
    inherit_cache = True


@compiles(database_now_s, "sqlite")
def _now_on_sqlite(element: database_now_s, compiler: Any, **options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_now_s, "postgresql")
def _now_on_postgresql(element: database_now_s, compiler: Any, **options: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"


# SQLite counts up by itself only where the key's type is exactly INTEGER.
_Id = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData()


def _study_key(**options: Any) -> Column[int]:
    return Column(
        "study_id",
        _Id,
        ForeignKey("sweep_studies.id", ondelete="CASCADE"),
        nullable=False,
        **options,
    )


studies = Table(
    "sweep_studies",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("spec_hash", Text, nullable=False),
    Column("space_version", Integer, nullable=False),
    Column("metric", Text, nullable=False),
    Column("direction", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("versions", Text, nullable=False),
    Column("git_commit", Text),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("name", name="uq_sweep_studies_name"),
    # A number that names folders must never be given out twice, not even after a deletion.
    sqlite_autoincrement=True,
)

spaces = Table(
    "sweep_spaces",
    metadata,
    _study_key(primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("spec", Text, nullable=False),
    Column("spec_hash", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

trials = Table(
    "sweep_trials",
    metadata,
    _study_key(primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),
    Column("params", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("space_version", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("enqueued", Boolean, nullable=False),
    Column("cause", Text),
    Column("value", Double),
    Column("message", Text),
    Column("tuner_attrs", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("excluded", Boolean, nullable=False, server_default=false()),
    CheckConstraint(f"state IN ({_STATES})", name="ck_sweep_trials_state"),
)

attempts = Table(
    "sweep_attempts",
    metadata,
    Column("study_id", _Id, primary_key=True),
    Column("trial", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("state", Text, nullable=False),
    Column("cause", Text),
    Column("device", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", BigInteger),
    Column("num_slots", Integer, nullable=False),
    Column("log", Text),
    Column("started_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("message", Text),
    Column("claim", Text, nullable=False),
    Column("num_devices", Double),
    ForeignKeyConstraint(
        ["study_id", "trial"],
        ["sweep_trials.study_id", "sweep_trials.number"],
        name="fk_sweep_attempts_trial",
        ondelete="CASCADE",
    ),
    CheckConstraint(f"state IN ({_STATES})", name="ck_sweep_attempts_state"),
)

# The key's order is the order of the effective rows: the window over it needs no sort.
epochs = Table(
    "sweep_epochs",
    metadata,
    Column("study_id", _Id, primary_key=True),
    Column("trial", Integer, primary_key=True),
    Column("epoch", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("metrics", Text, nullable=False),
    Column("lr", Double),
    Column("epoch_s", Double, nullable=False),
    Column("images_per_s", Double),
    Column("peak_memory_bytes", BigInteger),
    Column("checkpoint_epoch", Integer),
    Column("checkpoint_path", Text),
    Column("checkpoint_sha256", Text),
    Column("stored_at", UtcDateTime, nullable=False),
    Column("baseline_memory_bytes", BigInteger),
    Column("micro_batch", Integer),
    Column("num_sharing", Integer),
    ForeignKeyConstraint(
        ["study_id", "trial", "attempt"],
        ["sweep_attempts.study_id", "sweep_attempts.trial", "sweep_attempts.attempt"],
        name="fk_sweep_epochs_attempt",
        ondelete="CASCADE",
    ),
)

# Of no study: what does not fit on a kind of device does not fit there for any of them.
limits = Table(
    "sweep_limits",
    metadata,
    Column("device_name", Text, primary_key=True),
    Column("memory_bytes", BigInteger, primary_key=True, autoincrement=False),
    Column("recipe_hash", Text, primary_key=True),
    Column("precision", Text, primary_key=True),
    Column("optimizer", Text, primary_key=True),
    Column("fits", Integer),
    Column("too_large", Integer),
)

leases = Table(
    "sweep_leases",
    metadata,
    _study_key(primary_key=True),
    Column("token", BigInteger, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("process_started_at_s", Double, nullable=False),
    Column("expires_at_s", Double, nullable=False),
    Column("is_released", Boolean, nullable=False),
    Column("claim", Text, nullable=False),
)

requests = Table(
    "sweep_requests",
    metadata,
    Column("id", _Id, primary_key=True),
    _study_key(),
    Column("kind", Text, nullable=False),
    Column("arguments", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("trial", Integer),
    Column("refusal", Text),
    Index("ix_sweep_requests_study", "study_id", "finished_at"),
    sqlite_autoincrement=True,
)

"""The schema: made once whoever starts, upgraded, refused when newer, and apart from Optuna's."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from sweep.errors import NotFoundError, StorageError
from sweep.store import maintenance, migration, schema
from sweep.store.database import Database
from sweep.store.health import health_of
from sweep.store.store import open_store, validate_url
from sweep.store.url import locate
from tests.contract.stored import new_study

OPTIONS = {
    "include_object": migration.is_own,
    "version_table": schema.VERSION_TABLE,
    "compare_type": True,
}

HEAD = migration.newest()
NEXT = f"{int(HEAD) + 1:04d}"
NEXT_FILE = f"r{NEXT}_next.py"

NEXT_REVISION = f'''
"""Revision {NEXT}: a column that a newer version might add."""

import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{HEAD}"


def upgrade() -> None:
    with op.batch_alter_table("sweep_studies") as studies:
        studies.add_column(sa.Column("note", sa.Text(), nullable=False, server_default="none"))
'''

MOMENT = "2026-12-01T12:00:00.000000+00:00"
FIRST_ROWS = {
    "sweep_studies": {
        "id": 1,
        "name": "old",
        "spec": "{}",
        "spec_hash": "0",
        "space_version": 1,
        "metric": "a",
        "direction": "maximize",
        "seed": 0,
        "versions": "{}",
        "created_at": MOMENT,
    },
    "sweep_trials": {
        "study_id": 1,
        "number": 0,
        "state": "running",
        "params": "{}",
        "seed": 0,
        "space_version": 1,
        "attempt": 1,
        "enqueued": False,
        "tuner_attrs": "{}",
        "created_at": MOMENT,
    },
    "sweep_attempts": {
        "study_id": 1,
        "trial": 0,
        "attempt": 1,
        "state": "running",
        "device": "cpu",
        "host": "alpha",
        "num_slots": 1,
        "started_at": MOMENT,
        "claim": "0",
    },
    "sweep_epochs": {
        "study_id": 1,
        "trial": 0,
        "epoch": 0,
        "attempt": 1,
        "metrics": '{"a":0.5}',
        "epoch_s": 1.5,
        "stored_at": MOMENT,
    },
}
"""A running trial as the first revision stored it."""

STARTER = """
import sys
from sweep.store.store import open_store
from tests.contract.stored import new_study
print("ready", flush=True)
sys.stdin.readline()
with open_store(sys.argv[1], create=True) as store:
    print(store.create_study(new_study()).id)
"""


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """The migrations of a version to come: ours, and one more."""
    folder = tmp_path / "newer"
    shutil.copytree(migration.MIGRATIONS, folder)
    (folder / "versions" / NEXT_FILE).write_text(NEXT_REVISION)
    return folder


def upgrade(url: str, folder: Path) -> None:
    database = Database(locate(url))
    try:
        migration.upgrade(database, folder)
    finally:
        database.close()


def tables_of(url: str) -> set[str]:
    engine = create_engine(locate(url).url)
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()


def test_eight_first_starts_at_once_all_succeed(store_url):
    starters = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", STARTER, store_url],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for starter in starters:
        assert starter.stdout.readline() == "ready\n", starter.stderr.read()
    for starter in starters:
        starter.stdin.write("go\n")
        starter.stdin.flush()
    answers = [starter.communicate(timeout=120) for starter in starters]
    assert answers == [("1\n", "")] * 8


def test_every_table_is_ours_by_its_name(store, store_url):
    tables = tables_of(store_url)
    assert tables == {*schema.metadata.tables, schema.VERSION_TABLE}
    assert all(name.startswith("sweep_") for name in tables)


def test_the_migrations_make_what_the_tables_say(store, store_url):
    engine = create_engine(locate(store_url).url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=OPTIONS)
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_the_newest_revision_by_name_is_alembics_head():
    scripts = ScriptDirectory(str(migration.MIGRATIONS))
    assert scripts.get_current_head() == migration.newest()
    for script in scripts.walk_revisions():
        assert Path(script.path).name.startswith(f"r{script.revision}_")


def test_an_older_database_is_upgraded_with_its_rows(store_url, newer):
    with open_store(store_url, create=True) as store:
        study = store.create_study(new_study())
    for _ in range(2):
        upgrade(store_url, newer)
    engine = create_engine(locate(store_url).url)
    with engine.connect() as connection:
        found = connection.execute(text("SELECT id, name, note FROM sweep_studies")).all()
    engine.dispose()
    assert found == [(study.id, study.name, "none")]


def test_a_database_of_the_first_revision_is_upgraded_with_its_epochs(store_url, tmp_path):
    folder = tmp_path / "first"
    shutil.copytree(migration.MIGRATIONS, folder)
    for later in (folder / "versions").glob("r000[2-9]_*.py"):
        later.unlink()
    database = Database(locate(store_url))
    migration.make(database, folder)
    with database.engine.begin() as connection:
        for table, values in FIRST_ROWS.items():
            names = ", ".join(values)
            places = ", ".join(f":{name}" for name in values)
            connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({places})"), values)
    database.close()
    with open_store(store_url, create=False) as store:
        (stored,) = store.epochs(1)
        (attempt,) = store.snapshot(1).attempts
    assert (stored.metrics, stored.epoch_s) == ({"a": 0.5}, 1.5)
    assert (stored.baseline_memory_bytes, stored.micro_batch, stored.num_sharing) == (None,) * 3
    assert attempt.num_devices == 1.0


def test_an_older_file_is_copied_before_it_is_upgraded(sqlite_url, newer):
    with open_store(sqlite_url, create=True) as store:
        study = store.create_study(new_study())
    upgrade(sqlite_url, newer)
    folder = locate(sqlite_url).path.parent
    assert [path.name for path in folder.iterdir() if "backup" in path.name] == [
        f"sweep.db.backup-{HEAD}"
    ]
    with open_store(f"sqlite:///{folder}/sweep.db.backup-{HEAD}", create=False) as store:
        assert store.studies() == [study]


def test_a_newer_database_is_refused_and_not_touched(store_url, newer):
    with open_store(store_url, create=True) as store:
        store.create_study(new_study())
    upgrade(store_url, newer)
    expected = f"has schema revision {NEXT}, this version knows revisions up to {HEAD}; upgrade it"
    for door in (
        validate_url,
        lambda url: open_store(url, create=True),
        lambda url: open_store(url, create=False),
    ):
        with pytest.raises(StorageError, match=expected) as caught:
            door(store_url)
        assert caught.value.exit_code == 4
        assert "\n" not in str(caught.value)


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(store_url, newer):
    with open_store(store_url, create=True) as store:
        study = store.create_study(new_study())
    step = newer / "versions" / NEXT_FILE
    step.write_text(f"{NEXT_REVISION}    op.execute('SELECT nothing FROM nowhere')\n")
    with pytest.raises(StorageError):
        upgrade(store_url, newer)
    with open_store(store_url, create=False) as store:
        assert store.studies() == [study]


def test_tables_that_cannot_be_made_leave_no_file_behind(sqlite_url, newer):
    (newer / "versions" / NEXT_FILE).write_text("raise OSError(28, 'no space', 'here')")
    database = Database(locate(sqlite_url))
    with pytest.raises(StorageError, match="no space"):
        migration.make(database, newer)
    database.close()
    assert list(locate(sqlite_url).path.parent.iterdir()) == []


def test_an_absent_database_is_not_found_and_not_made(store_url):
    validate_url(store_url)
    with pytest.raises(
        NotFoundError, match=r"no studies in .*; start one with `sweep run`"
    ) as caught:
        open_store(store_url, create=False)
    assert caught.value.exit_code == 3
    location = locate(store_url)
    if location.path is None:
        assert tables_of(store_url) == set()
    else:
        assert not location.path.parent.exists()


def test_a_file_that_only_optuna_wrote_to_holds_no_studies_of_ours(sqlite_url):
    path = locate(sqlite_url).path
    path.parent.mkdir()
    path.touch()
    with pytest.raises(NotFoundError):
        open_store(sqlite_url, create=False)
    assert path.read_bytes() == b""


def test_tables_of_optuna_are_neither_changed_nor_dropped(store_url, newer):
    from optuna.storages import RDBStorage
    from optuna.study import StudyDirection

    location = locate(store_url)
    if location.path is not None:
        location.path.parent.mkdir()
    url = location.connection_string
    storage = RDBStorage(url)
    storage.create_new_study([StudyDirection.MAXIMIZE], "theirs")
    theirs = tables_of(store_url)
    with open_store(store_url, create=True) as store:
        store.create_study(new_study("ours"))
    upgrade(store_url, newer)
    assert tables_of(store_url) >= theirs
    assert [study.study_name for study in storage.get_all_studies()] == ["theirs"]
    storage.remove_session()
    storage.engine.dispose()
    engine = create_engine(location.url)
    with engine.connect() as connection:
        versions = connection.scalars(text("SELECT version_num FROM alembic_version")).all()
        assert versions == ["v3.2.0.a"]
        context = MigrationContext.configure(connection, opts=OPTIONS)
        drops = [
            change
            for change in compare_metadata(context, schema.metadata)
            if change[0] == "remove_table"
        ]
        assert drops == []
    engine.dispose()


def test_the_schema_lock_is_held_by_one_process_at_a_time(store, store_url):
    code = (
        "import sys; from sweep.store.store import open_store\n"
        "with open_store(sys.argv[1], create=False) as store, store.schema_lock():\n"
        "    print('held', flush=True)"
    )
    with store.schema_lock():
        waiter = subprocess.Popen(
            [sys.executable, "-c", code, store_url], stdout=subprocess.PIPE, text=True
        )
        with pytest.raises(subprocess.TimeoutExpired):
            waiter.communicate(timeout=1)
    assert waiter.communicate(timeout=60) == ("held\n", None)


def test_a_file_is_made_for_readers_that_do_not_block_the_writer(sqlite_url):
    open_store(sqlite_url, create=True).close()
    engine = create_engine(sqlite_url)
    with engine.connect() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
    engine.dispose()
    database = Database(locate(sqlite_url))
    settings = [
        database.read(lambda connection, name=name: connection.scalar(text(f"PRAGMA {name}")))
        for name in ("synchronous", "busy_timeout", "foreign_keys")
    ]
    database.close()
    assert settings == [2, 500, 1]


def test_an_explicit_upgrade_says_what_it_changed_and_where_the_copy_is(store_url, tmp_path):
    folder = tmp_path / "first"
    shutil.copytree(migration.MIGRATIONS, folder)
    for later in (folder / "versions").glob("r000[2-9]_*.py"):
        later.unlink()
    database = Database(locate(store_url))
    migration.make(database, folder)
    database.close()
    done = maintenance.upgrade(store_url)
    assert (done.before, done.now) == ("0001", HEAD)
    if store_url.startswith("sqlite"):
        assert done.backup is not None
        assert health_of(f"sqlite:///{done.backup}").revision == "0001"
    assert health_of(store_url).revision == HEAD

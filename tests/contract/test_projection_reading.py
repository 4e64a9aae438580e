"""The dashboard reads Optuna's tables from every kind of database, and can write none of them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import optuna
import psycopg
import pytest
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage

from sweep.dashboard.optuna_pages import OptunaPages
from sweep.dashboard.projection import open_projection
from sweep.dashboard.source import Source
from sweep.errors import NotFoundError, StorageError, UsageError


@contextmanager
def writable(url: str) -> Iterator[RDBStorage]:
    """Optuna's own door to the same database, closed again."""
    storage = RDBStorage(url.replace("postgresql://", "postgresql+psycopg://"))
    yield storage
    storage.remove_session()
    storage.engine.dispose()


@pytest.fixture
def projected_url(store_url) -> str:
    """A database with one Optuna study of two trials, as the projection leaves it."""
    if store_url.startswith("sqlite:"):
        Path(store_url.removeprefix("sqlite:///")).parent.mkdir()
    with writable(store_url) as storage:
        study = optuna.create_study(storage=storage, study_name="digits", direction="maximize")
        for value in (0.91, 0.97):
            study.tell(study.ask(), value)
    return store_url


@pytest.fixture
def storage(projected_url):
    storage = open_projection(projected_url)
    yield storage
    storage.remove_session()
    storage._backend.engine.dispose()


def test_the_studies_and_trials_are_read(storage):
    study = optuna.load_study(storage=storage, study_name="digits")
    assert [trial.value for trial in study.trials] == [0.91, 0.97]


def test_the_database_itself_refuses_a_write(storage, projected_url):
    with pytest.raises(StorageInternalError):
        storage.set_study_user_attr(1, "note", "changed")
    with writable(projected_url) as storage:
        assert optuna.load_study(storage=storage, study_name="digits").user_attrs == {}


def test_trials_that_are_told_later_are_seen(storage, projected_url):
    assert len(storage.get_all_trials(1)) == 2
    with writable(projected_url) as other:
        study = optuna.load_study(storage=other, study_name="digits")
        study.tell(study.ask(), 0.5)
    assert len(storage.get_all_trials(1)) == 3


def test_a_server_without_a_study_is_not_found_and_gets_no_tables(postgresql_url):
    with pytest.raises(NotFoundError, match="no study has run"):
        open_projection(postgresql_url)
    with psycopg.connect(postgresql_url) as connection:
        tables = connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchall() == []


def test_a_server_that_does_not_answer_cannot_be_read_and_its_password_stays_hidden():
    with pytest.raises(StorageError, match="Connection refused") as refusal:
        open_projection("postgresql://sweep:s3{cr}et@127.0.0.1:1/sweep")
    assert "s3" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_absent_is_not_found_and_not_created(tmp_path):
    with pytest.raises(NotFoundError, match="there is no database"):
        open_projection(f"sqlite:///{tmp_path / 'none.db'}")
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_a_study_is_not_found_and_gets_no_tables(tmp_path):
    path = tmp_path / "sweep.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sweep_studies (id INTEGER)")
    before = path.read_bytes()
    with pytest.raises(NotFoundError, match="no study has run"):
        open_projection(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_a_file_of_something_else_cannot_be_read(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n" * 200)
    with pytest.raises(StorageError, match="file is not a database"):
        open_projection(f"sqlite:///{path}")


def test_a_url_of_another_kind_is_refused_without_showing_its_password():
    with pytest.raises(UsageError) as refusal:
        open_projection("mysql://sweep:s3cret@host/db")
    assert "s3cret" not in str(refusal.value)


def test_a_brace_in_the_path_survives_optunas_template(tmp_path):
    folder = tmp_path / "{0}"
    folder.mkdir()
    with writable(f"sqlite:///{tmp_path / 'sweep.db'}") as storage:
        storage.create_new_study([optuna.study.StudyDirection.MAXIMIZE], "digits")
    (tmp_path / "sweep.db").rename(folder / "sweep.db")
    storage = open_projection(f"sqlite:///{folder}/sweep.db")
    assert [study.study_name for study in storage.get_all_studies()] == ["digits"]
    storage.remove_session()
    storage._backend.engine.dispose()


def test_optunas_pages_are_opened_again_where_the_database_was_replaced(tmp_path):
    for name in ("first", "second"):
        with writable(f"sqlite:///{tmp_path / name}") as storage:
            storage.create_new_study([optuna.study.StudyDirection.MAXIMIZE], name)
    url = f"sqlite:///{tmp_path / 'first'}"
    with Source(url) as source:
        pages = OptunaPages(url, source)
        assert (pages.study_id("first"), pages.study_id("second")) == (1, None)
        app = pages.open()
        assert pages.open() is app
        (tmp_path / "second").replace(tmp_path / "first")
        assert (pages.study_id("first"), pages.study_id("second")) == (None, 1)
        (tmp_path / "first").rename(tmp_path / "away")
        assert pages.study_id("second") is None

"""Faults: what cannot be opened, and what happens when a database fails in the middle."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, event, text

from sweep.errors import NotFoundError, StorageError, UsageError
from sweep.records import Cause, TrialState
from sweep.store.database import Database
from sweep.store.entries import NewTrial
from sweep.store.leadership import Leadership, lead
from sweep.store.store import open_store, validate_url
from sweep.store.url import locate
from tests.contract.stored import ALICE, PLACE, add_trial, epoch, new_study, start


def refused(url: str, kind: type[Exception]) -> str:
    """The one line with which every door refuses the URL."""
    lines = set()
    for door in (
        validate_url,
        lambda url: open_store(url, create=True),
        lambda url: open_store(url, create=False),
    ):
        with pytest.raises(kind) as caught:
            door(url)
        lines.add(str(caught.value))
    (line,) = lines
    assert "\n" not in line
    return line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, which must be as empty when the test is over."""
    empty = tmp_path / "here"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return empty


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("runs/sweep.db", "runs/sweep.db is a path; write sqlite:///runs/sweep.db"),
        ("sqlite://runs/sweep.db", "three slashes; write sqlite:///runs/sweep.db"),
        ("sqlite://", "names no file that stays; write sqlite:///runs/sweep.db"),
        ("mysql://u:secret@h/d", "mysql:// is not known; write sqlite:///PATH or postgresql://"),
    ],
)
def test_what_is_no_url_of_a_database_is_bad_usage(folder, url, line):
    assert line in refused(url, UsageError)
    assert UsageError.exit_code == 2
    assert list(folder.iterdir()) == []


def test_a_file_of_something_else_is_refused_and_kept(folder, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk\n")
    line = refused(f"sqlite:///{path}", StorageError)
    assert f"the file is not a database: {path}; name another one with --storage" in line
    assert path.read_text() == "remember the milk\n"


def test_a_damaged_database_is_refused(folder, tmp_path):
    path = tmp_path / "sweep.db"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    assert f"database {path}: " in refused(f"sqlite:///{path}", StorageError)


def test_a_folder_is_no_database(folder, tmp_path):
    line = refused(f"sqlite:///{tmp_path}", StorageError)
    assert line == f"{tmp_path} is a folder; name a file in it: sqlite:///{tmp_path}/sweep.db"


def test_a_folder_below_a_file_cannot_be_made(folder, tmp_path):
    (tmp_path / "file").touch()
    line = refused(f"sqlite:///{tmp_path}/file/runs/sweep.db", StorageError)
    assert line == f"{tmp_path}/file is a file, so {tmp_path}/file/runs/sweep.db cannot be made"


def test_a_relative_path_begins_at_the_working_folder(folder):
    with open_store("sqlite:///runs/a/sweep.db", create=True) as store:
        study = store.create_study(new_study())
    assert (folder / "runs" / "a" / "sweep.db").exists()
    with open_store(f"sqlite:///{folder}/runs/a/sweep.db", create=False) as store:
        assert store.studies() == [study]


@pytest.mark.parametrize("name", ["a b.db", "100%25 größe?.db".replace("?", ""), "it's #1;.db"])
def test_a_file_may_have_any_name(folder, name):
    with open_store(f"sqlite:///runs/{name}", create=True) as store:
        study = store.create_study(new_study())
    with open_store(f"sqlite:///runs/{name}", create=False) as store:
        assert store.studies() == [study]
    (path,) = (folder / "runs").iterdir()
    assert path == locate(f"sqlite:///runs/{name}").path


def as_plain_user(*command: str) -> list[str]:
    """The command, bound by the permissions of files even if we are root."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]


PROBE = """
import sys
from sweep.errors import SweepError
from sweep.store.store import open_store, validate_url
from tests.contract.stored import ALICE, new_study
try:
    validate_url(sys.argv[1])
    with open_store(sys.argv[1], create=sys.argv[2] == "create") as store:
        print([study.name for study in store.studies()])
        store.create_study(new_study("another"))
except SweepError as error:
    print(type(error).__name__, error)
"""


def probe(url: str, mode: str) -> list[str]:
    """What a process without special rights can do with the database."""
    run = subprocess.run(
        as_plain_user(sys.executable, "-W", "error", "-c", PROBE, url, mode),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize("locked", ["file", "folder"])
def test_a_file_that_cannot_be_written_can_be_read(sqlite_url, locked):
    with open_store(sqlite_url, create=True) as store:
        store.create_study(new_study())
    path = locate(sqlite_url).path
    path.chmod(0o444)
    if locked == "folder":
        path.parent.chmod(0o555)
    for mode in ("create", "open"):
        assert probe(sqlite_url, mode) == [
            "['lr_bs_opt']",
            f"StorageError database {path}: it cannot be written; check the file's permissions",
        ]
    path.parent.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    reason = f"StorageError the folder {closed} cannot be written, so"
    for path in (f"{closed}/sweep.db", f"{closed}/runs/sweep.db"):
        assert probe(f"sqlite:///{path}", "create") == [f"{reason} {path} cannot be made"]
    assert list(closed.iterdir()) == []


def test_a_full_disk_refuses_the_write_and_keeps_what_was_stored(sqlite_url):
    with open_store(sqlite_url, create=True) as store:
        study = store.create_study(new_study())
        database = Database(locate(sqlite_url))
        event.listen(
            database.engine,
            "connect",
            lambda connection, _: connection.execute("PRAGMA max_page_count = 1"),
        )
        leadership = lead(database, study, ALICE, 60, replaces=None)
        with pytest.raises(StorageError, match="the disk is full; make room there"):
            add_trial(leadership, params={"text": "x" * 100_000})
        assert store.trials(study.id) == ()
        leadership.release()
        database.close()


def test_a_full_disk_is_waited_for_by_who_may_wait(sqlite_url):
    with open_store(sqlite_url, create=True) as store:
        study = store.create_study(new_study())
        connections, asked = [], []

        def may_wait():
            asked.append(None)
            if len(asked) == 4:
                connections[0].execute("PRAGMA max_page_count = 100000")
            return True

        database = Database(locate(sqlite_url), patience_s=0.0, may_wait=may_wait)
        event.listen(
            database.engine,
            "connect",
            lambda connection, _: (
                connection.execute("PRAGMA max_page_count = 1"),
                connections.append(connection),
            ),
        )
        leadership = lead(database, study, ALICE, 60, replaces=None)
        add_trial(leadership, params={"text": "x" * 100_000})
        assert len(asked) >= 4
        assert [trial.number for trial in store.trials(study.id)] == [0]
        leadership.release()
        database.close()


def test_waiting_for_a_full_disk_ends_when_it_is_no_longer_wanted(sqlite_url):
    with open_store(sqlite_url, create=True) as store:
        study = store.create_study(new_study())
        answers = [True, True, True]
        database = Database(
            locate(sqlite_url), may_wait=lambda: answers.pop() if answers else False
        )
        event.listen(
            database.engine,
            "connect",
            lambda connection, _: connection.execute("PRAGMA max_page_count = 1"),
        )
        leadership = lead(database, study, ALICE, 60, replaces=None)
        with pytest.raises(StorageError, match="the disk is full; make room there"):
            add_trial(leadership, params={"text": "x" * 100_000})
        database.close()


def test_a_server_that_is_not_there_is_refused_at_once():
    line = refused("postgresql://user:geheim@127.0.0.1:1/sweep", StorageError)
    assert line == (
        "database postgresql://user:***@127.0.0.1:1/sweep: it does not answer; "
        "check that it runs, and the host and port"
    )


def test_a_database_that_is_not_on_the_server_is_refused(postgresql_server):
    line = refused(postgresql_server.get_uri("nowhere"), StorageError)
    assert "the server has no such database; make it with createdb" in line


@pytest.fixture
def guarded_url(postgresql_server, postgresql_url) -> str:
    """A database that asks the user `guarded` for the password `xq@zw/1`."""
    rules = postgresql_server.pgdata / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    with psycopg.connect(postgresql_server.get_uri(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guarded")
        connection.execute("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'xq@zw/1'")
        connection.execute("SELECT pg_reload_conf()")
    return postgresql_url.replace("postgres:@", "guarded:PASSWORD@", 1)


def test_a_password_is_taken_in_its_escaped_form(guarded_url):
    with open_store(guarded_url.replace("PASSWORD", "xq%40zw%2F1"), create=True) as store:
        assert store.studies() == []


@pytest.mark.parametrize(
    ("password", "expected"),
    [
        ("wr0ng", "the password or the user is wrong; check the URL"),
        ("", "it wants a password; write one in the URL, or in ~/.pgpass"),
    ],
)
def test_a_wrong_password_is_refused_and_never_shown(guarded_url, password, expected):
    line = refused(guarded_url.replace("PASSWORD", password), StorageError)
    assert expected in line
    assert "wr0ng" not in line


@pytest.mark.parametrize("password", ["xq@zw/1", "xq/zw@1", "xq?zw", "xq#zw", "xq:zw"])
def test_a_badly_escaped_password_is_never_shown(guarded_url, password):
    line = refused(guarded_url.replace("PASSWORD", password), (UsageError, StorageError))
    assert "xq" not in line
    assert "zw" not in line


def test_a_missing_driver_is_named_with_its_installation(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    line = refused("postgresql://user@host/sweep", StorageError)
    assert line.endswith("pip install 'sweep-trials[postgres]'")


def lose_connection(url: str, pid: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


class LostAnswers:
    """Lets every commit through once, and cuts the connection before the answer is heard."""

    def __init__(self, database: Database, url: str) -> None:
        self.url = url
        self.is_armed = False
        self.num_lost = 0
        event.listen(database.engine, "commit", self._lose)

    def _lose(self, connection) -> None:
        if self.is_armed:
            self.is_armed = False
            self.num_lost += 1
            driver = connection.connection.driver_connection
            driver.commit()
            driver.execute("SELECT 1")
            lose_connection(self.url, driver.info.backend_pid)


LIFE = [
    lambda led: add_trial(led),
    lambda led: start(led),
    lambda led: led.store_epoch(epoch(0)),
    lambda led: led.interrupt(trial=0, attempt=1, cause=Cause.LOST),
    lambda led: start(led),
    lambda led: led.store_epoch(epoch(0, attempt=2)),
    lambda led: led.renew(),
    lambda led: led.set_tuner_attrs(0, {"rung": 1}),
    lambda led: led.finish_trial(trial=0, attempt=2, state=TrialState.COMPLETE, value=0.5),
    lambda led: led.begin_trial(NewTrial(number=1, params={}, seed=1, space_version=1), PLACE),
    lambda led: led.set_spec({"new": 1}, "1", 2),
    lambda led: led.release(),
]


def test_a_change_whose_answer_was_lost_is_made_once(postgresql_url):
    with open_store(postgresql_url, create=True) as store:
        study = store.create_study(new_study())
        database = Database(locate(postgresql_url))
        lost = LostAnswers(database, postgresql_url)
        lost.is_armed = True
        leadership = lead(database, study, ALICE, 60, replaces=None)
        for step in LIFE:
            lost.is_armed = True
            step(leadership)
        database.close()
        assert lost.num_lost == len(LIFE) + 1
        first, second = store.trials(study.id)
        assert (first.state, first.attempt, first.value) == (TrialState.COMPLETE, 2, 0.5)
        assert (second.state, second.attempt) == (TrialState.RUNNING, 1)
        attempts = [(row.trial, row.attempt, row.state) for row in store.attempts(study.id)]
        assert attempts == [
            (0, 1, TrialState.FAILED),
            (0, 2, TrialState.COMPLETE),
            (1, 1, TrialState.RUNNING),
        ]
        assert [(row.epoch, row.attempt) for row in store.epochs(study.id)] == [(0, 2)]
        assert store.specs(study.id) == {1: study.spec, 2: {"new": 1}}
        assert store.leader(study.id) is None


def test_a_connection_that_drops_at_any_statement_loses_nothing(postgresql_url):
    with open_store(postgresql_url, create=True) as store:
        for fatal in range(60):
            study = store.create_study(new_study(f"study {fatal}"))
            database = Database(locate(postgresql_url))
            if not live_with_a_drop(database, study, postgresql_url, fatal):
                break
            first, second = store.trials(study.id)
            assert (first.state, first.attempt, first.value) == (TrialState.COMPLETE, 2, 0.5)
            assert (second.state, second.attempt) == (TrialState.RUNNING, 1)
        assert 20 < fatal < 59, "as many statements as a life has, and not one less"


def live_with_a_drop(database: Database, study, url: str, fatal: int) -> bool:
    """One life of a trial, its connection cut before statement number `fatal`; whether it was."""
    left = [fatal]

    def drop(connection, cursor, *_):
        left[0] -= 1
        if left[0] == -1:
            lose_connection(url, cursor.connection.info.backend_pid)

    event.listen(database.engine, "before_cursor_execute", drop)
    leadership: Leadership = lead(database, study, ALICE, 60, replaces=None)
    for step in LIFE:
        step(leadership)
    database.close()
    return left[0] < 0


def test_a_server_that_stays_away_is_given_up_after_a_while(postgresql_url):
    away = locate(postgresql_url.replace("host=/", "host=/nowhere/"))
    database = Database(away, patience_s=0.2)
    with pytest.raises(StorageError, match="does not answer"):
        database.write(lambda connection: None)
    database.close()


def _holding(path, seconds):
    """Another connection holds the file's write lock for a while."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")

    def let_go():
        connection.execute("ROLLBACK")
        connection.close()

    timer = threading.Timer(seconds, let_go)
    timer.start()
    return timer


def test_a_lock_that_another_program_holds_is_waited_for(sqlite_url):
    with open_store(sqlite_url, create=True, patience_s=0.0) as store:
        timer = _holding(locate(sqlite_url).path, 2.0)
        assert store.create_study(new_study()).name == new_study().name
        timer.join()


def test_waiting_for_a_lock_ends_when_it_is_no_longer_wanted(sqlite_url):
    wanted = threading.Event()
    wanted.set()
    with open_store(sqlite_url, create=True, may_wait=wanted.is_set) as store:
        timer = _holding(locate(sqlite_url).path, 8.0)
        threading.Timer(1.0, wanted.clear).start()
        begun_at = time.monotonic()
        with pytest.raises(StorageError, match="kept it locked"):
            store.create_study(new_study())
        assert time.monotonic() - begun_at < 5.0
        timer.join()


@pytest.mark.parametrize("statement", ["notes(text)", "studies(id, patient)", "trials(id)"])
def test_a_file_of_another_program_is_refused_and_kept(tmp_path, statement):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {statement}")
    connection.close()
    before = path.read_bytes()
    table = statement.partition("(")[0]
    expected = f"belongs to something else: it has the table '{table}'; name another one"
    for door in (validate_url, lambda url: open_store(url, create=True)):
        with pytest.raises(StorageError, match=expected):
            door(f"sqlite:///{path}")
    with pytest.raises(NotFoundError):
        open_store(f"sqlite:///{path}", create=False)
    assert path.read_bytes() == before


def test_other_tables_on_a_server_are_no_hindrance_unless_they_have_optunas_names(postgresql_url):
    engine = create_engine(postgresql_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE notes (text TEXT)"))
    open_store(postgresql_url, create=True).close()
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE sweep_alembic_version"))
        connection.execute(text("CREATE TABLE studies (patient TEXT)"))
    with pytest.raises(StorageError, match="it has the table 'studies'"):
        validate_url(postgresql_url)
    engine.dispose()


@pytest.mark.parametrize(("act", "what"), [("remove", "is gone"), ("replace", "was replaced")])
def test_a_file_that_is_taken_away_under_a_leader_is_noticed(sqlite_url, act, what):
    path = locate(sqlite_url).path
    with open_store(sqlite_url, create=True) as store:
        study = store.create_study(new_study())
        leadership = store.lead(study.id, ALICE, 60)
        add_trial(leadership)
        if act == "remove":
            path.unlink()
        else:
            other = path.with_name("other")
            other.write_bytes(path.read_bytes())
            other.replace(path)
        with pytest.raises(StorageError, match=what):
            add_trial(leadership, 1)


def test_a_reader_waits_for_a_file_that_is_locked_as_a_whole(sqlite_url):
    with open_store(sqlite_url, create=True) as store:
        store.create_study(new_study())
    holder = sqlite3.connect(
        locate(sqlite_url).path, isolation_level=None, check_same_thread=False
    )
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    timer = threading.Timer(2.0, holder.close)
    timer.start()
    with open_store(sqlite_url, create=False) as store:
        assert len(store.studies()) == 1
    timer.join()

"""A study copied from each kind of database to each, and the upkeep of a database as a whole."""

import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import optuna
import pytest

from sweep.coordinator.cleaning import Left, clean
from sweep.coordinator.consistency import check_consistency
from sweep.coordinator.folders import study_folder
from sweep.coordinator.inspection import inspect
from sweep.coordinator.places import is_shared, unmark_copied
from sweep.coordinator.projecting import project_anew
from sweep.coordinator.removal import copy_study, remove_study
from sweep.coordinator.repair import repair
from sweep.errors import LedByAnotherError, NotFoundError, UsageError
from sweep.records import Snapshot
from sweep.spec.study import CheckpointsSpec
from sweep.store.health import health_of
from sweep.store.maintenance import back_up, upgrade
from sweep.store.migration import newest
from sweep.store.store import open_store
from tests.contract.stored import BOB, add_trial, epoch, new_study, start
from tests.optuna_view import optuna_trials
from tests.scripted import acts, run_to_end, scripted_plan, scripted_spec


@pytest.fixture
def target_url(store_url: str, tmp_path: Path, postgresql_url: str) -> str:
    """A database of the other kind."""
    is_file = store_url.startswith("sqlite")
    return postgresql_url if is_file else f"sqlite:///{tmp_path}/target/sweep.db"


def without_id(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, study=replace(snapshot.study, id=0))


def test_a_copy_is_the_same_study_to_the_last_number(store_url, target_url, tmp_path):
    spec = scripted_spec(acts("fine", "raise", "die once", "nan"))
    plan = replace(scripted_plan(tmp_path, spec), url=store_url)
    run_to_end(plan)
    with open_store(store_url, create=False) as store, open_store(target_url, create=True) as to:
        to.create_study(new_study("another"))  # so that the ids differ
        study = store.study("scripted")
        told: list[tuple[int, int]] = []
        copied = copy_study(store, study, to, "there", lambda *words: told.append(words))
        assert told[-1][0] == told[-1][1] > 4
        assert without_id(to.snapshot(copied.id)) == without_id(store.snapshot(study.id))
        assert to.specs(copied.id) == store.specs(study.id)
        theirs, ours = to.all_epochs(copied.id), store.all_epochs(study.id)
        assert theirs == ours
        folder = study_folder(plan.run_folder, "scripted", plan.url)
        assert check_consistency(inspect(to, copied, folder, is_led=False)) == []
        assert is_shared(folder.path)
        unmark_copied(folder.path)
        assert not is_shared(folder.path)
        assert len(optuna_trials(to.connection_string, "scripted")) == 4
    longer = replace(scripted_plan(tmp_path, spec), url=target_url)
    assert run_to_end(longer).reason.startswith("nothing is left to do")


def test_a_copied_study_goes_on_where_it_was(store_url, target_url, tmp_path):
    plan = replace(scripted_plan(tmp_path, scripted_spec(trials=2)), url=store_url)
    run_to_end(plan)
    with open_store(store_url, create=False) as store, open_store(target_url, create=True) as to:
        copy_study(store, store.study("scripted"), to, "there")
    run_to_end(replace(scripted_plan(tmp_path, scripted_spec(trials=4)), url=target_url))
    with open_store(target_url, create=False) as to, open_store(store_url, create=False) as store:
        assert len(to.trials(1)) == 4
        assert to.trials(1)[:2] == store.trials(1)


def test_a_name_that_is_taken_is_refused_and_nothing_is_written(store_url, target_url):
    with open_store(store_url, create=True) as store, open_store(target_url, create=True) as to:
        study = store.create_study(new_study())
        with store.lead(study.id, BOB, 60) as leadership:
            add_trial(leadership)
        taken = to.create_study(new_study())
        with pytest.raises(UsageError, match=r"there is a study lr_bs_opt in .* already; delete"):
            copy_study(store, study, to, "there")
        assert to.trials(taken.id) == ()
        with pytest.raises(UsageError, match="already"):
            copy_study(store, study, store, "itself")


def test_a_study_that_is_led_is_neither_copied_nor_deleted(store, study, leadership, target_url):
    with open_store(target_url, create=True) as to:
        with pytest.raises(LedByAnotherError):
            copy_study(store, study, to, "there")
        assert to.studies() == []
    with pytest.raises(LedByAnotherError):
        remove_study(store, study)
    assert store.study(study.name) == study


def test_a_deleted_study_is_in_no_table_of_ours_or_optunas(store_url, tmp_path):
    spec = scripted_spec(acts("fine", "raise"))
    run_to_end(replace(scripted_plan(tmp_path, spec), url=store_url))
    with open_store(store_url, create=False) as store:
        other = store.create_study(new_study("other"))
        remove_study(store, store.study("scripted"))
        assert store.studies() == [other]
        assert optuna_trials(store.connection_string, "scripted") == []


def test_a_backup_is_complete_while_others_write(sqlite_url, tmp_path):
    with open_store(sqlite_url, create=True) as store:
        study = store.create_study(new_study())
        Path(sqlite_url.removeprefix("sqlite:///")).chmod(0o640)
        with store.lead(study.id, BOB, 60) as leadership:
            add_trial(leadership)
            start(leadership)
            leadership.store_epoch(epoch())
            target = back_up(sqlite_url, tmp_path / "copy.db", "now")
            leadership.store_epoch(epoch(1))
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with open_store(f"sqlite:///{target}", create=False) as copy:
        assert [row.epoch for row in copy.epochs(study.id)] == [0]
    assert sorted(path.name for path in tmp_path.iterdir() if "copy" in path.name) == ["copy.db"]


def test_a_backup_is_of_one_moment_however_often_others_write_meanwhile(
    sqlite_url, tmp_path, monkeypatch
):
    monkeypatch.setattr("sweep.store.sqlite._PAGES_AT_ONCE", 2)
    with open_store(sqlite_url, create=True) as store:
        study = store.create_study(new_study())
        with store.lead(study.id, BOB, 60) as leadership:
            add_trial(leadership)
            start(leadership)
            told = []

            def watch(done: int, total: int) -> None:
                leadership.store_epoch(epoch(len(told)))
                told.append((done, total))

            back_up(sqlite_url, tmp_path / "copy.db", "now", watch)
        assert len(store.epochs(study.id)) == len(told) > 5
    total = told[0][1]
    assert told == [*((done, total) for done in range(2, total, 2)), (total, total)]
    with open_store(f"sqlite:///{tmp_path}/copy.db", create=False) as copy:
        assert copy.epochs(study.id) == ()


def test_without_a_target_the_backup_lies_beside_the_file(sqlite_url):
    open_store(sqlite_url, create=True).close()
    made = back_up(sqlite_url, None, "20261201T070000Z")
    assert made.name == "sweep.db.backup-20261201T070000Z"
    assert health_of(f"sqlite:///{made}").revision == newest()


def test_a_backup_replaces_another_backup_and_nothing_else(sqlite_url, tmp_path):
    open_store(sqlite_url, create=True).close()
    for _ in range(2):
        back_up(sqlite_url, tmp_path / "copy.db", "now")
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt is there, and is no database"):
        back_up(sqlite_url, notes, "now")
    assert notes.read_text() == "mine"


def test_a_backup_never_replaces_the_database_itself(sqlite_url):
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    open_store(sqlite_url, create=True).close()
    for suffix in ("", "-wal", "-shm", "-journal"):
        with pytest.raises(UsageError, match="is the database itself"):
            back_up(sqlite_url, Path(f"{path}{suffix}"), "now")


def test_a_backup_never_replaces_the_log_of_a_database_that_is_reached_by_a_link(
    sqlite_url, tmp_path
):
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    (tmp_path / "link.db").symlink_to(path)
    with open_store(sqlite_url, create=True):
        for suffix in ("", "-wal", "-shm", "-journal"):
            with pytest.raises(UsageError, match="is the database itself"):
                back_up(f"sqlite:///{tmp_path}/link.db", Path(f"{path}{suffix}"), "now")


def test_of_postgresql_the_command_that_copies_it_is_told_without_its_password(postgresql_url):
    secret = postgresql_url.replace("postgres:@", "postgres:secret@")
    with pytest.raises(
        UsageError, match=r"pg_dump --format=custom --file=sweep-now\.dump"
    ) as told:
        back_up(secret, None, "now")
    assert "secret" not in str(told.value)
    assert "+psycopg" not in str(told.value).partition("pg_dump")[2]


def test_an_upgrade_says_from_where_to_where(store_url):
    open_store(store_url, create=True).close()
    done = upgrade(store_url)
    assert (done.before, done.now, done.backup) == (newest(), newest(), None)


def test_what_is_not_there_is_not_upgraded_or_copied(sqlite_url):
    for act in (upgrade, lambda url: back_up(url, None, "now")):
        with pytest.raises(NotFoundError, match="nothing was stored there"):
            act(sqlite_url)
    assert not Path(sqlite_url.removeprefix("sqlite:///")).parent.exists()


def test_a_database_tells_how_it_is(store_url):
    open_store(store_url, create=True).close()
    health = health_of(store_url)
    is_file = store_url.startswith("sqlite")
    assert health.kind == ("SQLite" if is_file else "PostgreSQL")
    assert health.journal_mode == ("wal" if is_file else None)
    assert (health.revision, health.newest) == (newest(), newest())
    assert abs(health.clock_ahead_s) < 5


def test_a_study_that_optuna_has_of_its_own_is_neither_replaced_nor_removed(store, study):
    optuna_engine = optuna.storages.RDBStorage(store.connection_string)
    theirs = optuna.create_study(study_name=study.name, storage=optuna_engine)
    theirs.add_trial(optuna.create_trial(value=1.0))
    optuna_engine.remove_session()
    optuna_engine.engine.dispose()
    with pytest.raises(UsageError, match="Optuna has a study lr_bs_opt of its own"):
        project_anew(store, study)
    with pytest.raises(UsageError, match="of its own"):
        copy_study(store, study, store, "here")
    remove_study(store, study)
    assert [trial.value for trial in optuna_trials(store.connection_string, study.name)] == [1.0]


def test_a_copy_and_its_original_never_touch_each_others_files(store_url, target_url, tmp_path):
    """Also when both go on, and each is put in order."""
    keep = CheckpointsSpec(keep="all")
    spec = scripted_spec(trials=1, checkpoints=keep)
    first = replace(scripted_plan(tmp_path, spec), url=store_url)
    run_to_end(first)
    with open_store(store_url, create=False) as store, open_store(target_url, create=True) as to:
        copy_study(store, store.study("scripted"), to, "there")
    spec = scripted_spec(trials=3, checkpoints=keep)
    plans = [replace(scripted_plan(tmp_path, spec), url=url) for url in (store_url, target_url)]
    for plan in plans:
        run_to_end(plan)
    folders = [study_folder(plan.run_folder, "scripted", plan.url) for plan in plans]
    assert len({folder.path for folder in folders}) == 2
    for plan, folder in zip(plans, folders, strict=True):
        with open_store(plan.url, create=False) as store:
            study = store.study("scripted")
            found, left = repair(store, study, folder)
            assert (found, left) == ([], [])
            clean(store, study, folder, Left.BEST)
    for plan in plans:
        with open_store(plan.url, create=False) as store:
            best = max(store.trials(1), key=lambda trial: trial.value)
            snapshot = store.snapshot(store.study("scripted").id)
        (*_, last) = (each for each in snapshot.epochs if each.trial == best.number)
        assert Path(last.checkpoint.path).exists()


def test_putting_a_backup_in_order_costs_the_original_nothing(sqlite_url, tmp_path):
    keep = CheckpointsSpec(keep="all")
    spec = scripted_spec(trials=1, checkpoints=keep)
    plan = replace(scripted_plan(tmp_path, spec), url=sqlite_url)
    run_to_end(plan)
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    longer = scripted_spec(trials=3, checkpoints=keep)
    run_to_end(replace(scripted_plan(tmp_path, longer), url=sqlite_url))
    files = sorted(plan.run_folder.rglob("*.pt"))
    url = f"sqlite:///{copy}"
    with open_store(url, create=False) as store:
        study = store.study("scripted")
        folder = study_folder(plan.run_folder, "scripted", url)
        assert repair(store, study, folder) == ([], [])
        clean(store, study, folder, Left.NONE)
    assert sorted(plan.run_folder.rglob("*.pt")) == files

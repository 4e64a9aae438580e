"""The commands that look after what is stored, as a user types them."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from sweep.store.store import open_store
from tests.console_script import DEADLINE_S, SWEEP, answered, environment, sweep
from tests.filled_store import NOBODY, fill_store
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs/sweep.db"


@pytest.fixture
def stored(tmp_path: Path, url: str) -> Path:
    """A folder whose database holds the study lr_bs."""
    fill_store(url, lr_batch_study())
    return tmp_path


def told(folder: Path, *arguments: str) -> str:
    """What a command that ended well told on stderr, having answered nothing."""
    done = sweep(folder, *arguments)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def test_an_excluded_trial_is_shown_and_not_best_and_can_be_taken_back(stored):
    best = ("best", "--study", "lr_bs", "--format", "json")
    assert json.loads(answered(stored, *best))[0]["trial"] == 1
    said = told(stored, "trials", "exclude", "--study", "lr_bs", "--trial", "1")
    assert said == "trial 1 is excluded: it counts in no comparison\n"
    assert json.loads(answered(stored, *best))[0]["trial"] == 5
    status = answered(stored, "status", "--study", "lr_bs")
    assert "best      trial 5, test_accuracy 92.00%" in status
    assert "excluded  trial 1" in status
    rows = answered(stored, "export", "--study", "lr_bs", "--columns", "trial,excluded")
    assert rows == "trial,excluded\n0,\n1,true\n2,\n3,\n4,\n5,\n"
    by = answered(stored, "export", "--study", "lr_bs", "--by", "batch_size")
    assert by.splitlines()[1].startswith("32,1,1,0,0")
    said = told(stored, "trials", "include", "--study", "lr_bs", "--trial", "1")
    assert said == "trial 1 counts again\n"
    assert json.loads(answered(stored, *best))[0]["trial"] == 1


def test_a_failed_trial_waits_again_and_how_to_run_it_is_said(stored):
    said = told(stored, "trials", "retry", "--study", "lr_bs", "--trial", "3")
    assert said == (
        "trial 3 waits for another attempt, which starts over\n"
        "to run it: sweep run --study lr_bs\n"
    )
    facts = json.loads(answered(stored, "status", "--study", "lr_bs", "--json"))
    assert (facts["failed"], facts["waiting"]) == (0, 1)


def test_a_point_is_enqueued_in_the_words_of_the_file(stored):
    params = "lr=1e-2,batch_size=128,optimizer=SGD"
    said = told(stored, "trials", "enqueue", "--study", "lr_bs", "--params", params)
    assert said == (
        "trial 6 waits with the params that were given\n"
        "to run it: sweep run --study lr_bs --add-trials 1\n"
    )
    rows = json.loads(answered(stored, "export", "--study", "lr_bs", "--format", "json"))
    last = {name: rows[-1][name] for name in ("state", "lr", "batch_size", "optimizer")}
    assert last == {"state": "waiting", "lr": 0.01, "batch_size": 128, "optimizer": "sgd"}


def test_a_study_that_another_leads_is_neither_deleted_nor_cleaned_nor_repaired(stored, url):
    with open_store(url, create=False) as store, store.lead(1, NOBODY, 60):
        for command in (
            ("studies", "delete", "--yes"),
            ("studies", "copy", "--to", f"sqlite:///{stored}/other.db"),
            ("clean",),
            ("doctor", "--fix"),
        ):
            done = sweep(stored, *command, "--study", "lr_bs")
            assert done.returncode == 5, done.stderr
            assert done.stderr.startswith("error: study 'lr_bs' is led by pid 1 on made-up: ")
        assert store.find_study("lr_bs") is not None


def test_a_deleted_study_is_gone_with_its_folder(stored):
    folder = stored / "runs" / "lr_bs" / "trials" / "00000"
    folder.mkdir(parents=True)
    (folder / "a1-e0.pt").write_bytes(b"x")
    assert told(stored, "studies", "delete", "--study", "lr_bs", "--yes") == (
        "deleted study lr_bs\n"
    )
    assert sorted(path.name for path in (stored / "runs").iterdir()) == ["sweep.db"]
    assert sweep(stored, "status", "--study", "lr_bs").returncode == 3


def test_a_study_is_kept_where_the_answer_is_no(stored):
    ours, theirs = pty.openpty()
    os.write(ours, b"n\n")
    done = subprocess.run(
        [SWEEP, "studies", "delete", "--study", "lr_bs"],
        cwd=stored,
        env=environment(),
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith("nothing was deleted\n")
    assert sweep(stored, "status", "--study", "lr_bs").returncode == 0


def test_a_copy_of_a_study_that_is_not_there_makes_no_database(stored):
    done = sweep(stored, "studies", "copy", "--study", "lr_b", "--to", "sqlite:///other.db")
    assert done.returncode == 3
    assert "lr_bs" in done.stderr
    assert not (stored / "other.db").exists()


def test_a_copy_has_the_same_table_and_its_files_outlive_the_first(stored):
    folder = stored / "runs" / "lr_bs" / "trials" / "00000"
    folder.mkdir(parents=True)
    (folder / "attempt-1.log").write_text("hello\n")
    to = f"sqlite:///{stored}/other.db"
    before = answered(stored, "export", "--study", "lr_bs")
    said = told(stored, "studies", "copy", "--study", "lr_bs", "--to", to)
    assert said == f"copied study lr_bs with 6 trials to {to}\n"
    assert answered(stored, "export", "--study", "lr_bs", "--storage", to) == before


def test_a_backup_can_be_read_like_the_database_itself(stored):
    said = told(stored, "storage", "backup", "-o", "copy.db")
    assert said == "wrote copy.db\n"
    copy = ("--storage", f"sqlite:///{stored}/copy.db")
    ours, theirs = (answered(stored, "status", "--json", *each) for each in ((), copy))
    assert ours == theirs
    assert "schema revision" in told(stored, "storage", "upgrade")


def test_the_doctor_says_what_is_wrong_and_repairs_it(tmp_path, url):
    spec = make_spec({"lr": [0.1, 0.2]}, name="broken")
    trial = {"value": 0.5}
    fill_store(url, SnapshotBuilder(spec).complete(0.1, 0.2, 0.9, lr=0.1, trial=trial).build())
    done = sweep(tmp_path, "doctor", "--study", "broken")
    assert done.returncode == 4
    assert done.stdout == (
        "trial 0: has the value 0.5, and 0.9 at its last epoch\n"
        "trial 0: is not in Optuna's tables\n"
        "to repair what can be: sweep doctor --study broken --fix\n"
    )
    unheard = f"set -o pipefail; '{SWEEP}' doctor --study broken | true"
    assert subprocess.run(["bash", "-c", unheard], cwd=tmp_path, env=environment()).returncode == 4
    fixed = sweep(tmp_path, "doctor", "--study", "broken", "--fix", "--json")
    assert fixed.returncode == 0
    assert [(each["fault"], each["repaired"]) for each in json.loads(fixed.stdout)] == [
        ("wrong_value", True),
        ("projection", True),
    ]
    assert answered(tmp_path, "doctor", "--study", "broken") == (
        "study broken: 1 trial, nothing is wrong\n"
    )


def test_the_doctor_looks_at_this_machine(stored):
    done = sweep(stored, "doctor", "--json")
    checks = {each["check"]: each for each in json.loads(done.stdout)}
    assert done.returncode == 0, done.stdout
    assert {"versions", "gpus", "torch", "run folder", "database", "clock", "open files"} <= set(
        checks
    )
    assert "WAL" in checks["database"]["text"]
    lines = answered(stored, "doctor").splitlines()
    assert {line.split()[0] for line in lines} <= {"ok", "note"}


def test_a_database_that_cannot_be_used_is_a_fault_of_this_machine(tmp_path):
    (tmp_path / "notes.db").write_text("no database\n")
    done = sweep(tmp_path, "doctor", "--storage", "sqlite:///notes.db")
    assert done.returncode == 4
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("fault")]
    assert "the file is not a database" in line

"""Answers of the installed command about a study that is stored."""

import json
import os
import signal
import subprocess
import time

import pytest

from sweep.cli.files import write_whole
from sweep.records import Snapshot
from sweep.spec.load import load_study_file
from sweep.views.formats import to_csv, to_csv_with_bom
from sweep.views.tables import attempts_table, epochs_table, trials_table
from tests.console_script import DEADLINE_S, SWEEP, answered, environment, sweep
from tests.filled_store import fill_store
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec

COMMANDS = (
    "run", "init", "check", "status", "stop", "best", "export", "report", "dashboard", "logs",
    "clean", "doctor", "trials", "studies", "storage",
)  # fmt: skip


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/runs/sweep.db"


@pytest.fixture
def stored(tmp_path, url) -> Snapshot:
    """The study lr_bs, stored where the command looks by default."""
    return fill_store(url, lr_batch_study())


def words(line: str) -> list[str]:
    return line.split()


def test_help_lists_every_command_and_nothing_else(tmp_path):
    listed = answered(tmp_path, "--help").partition("Commands:\n")[2]
    assert tuple(words(line)[0] for line in listed.splitlines()) == COMMANDS
    assert answered(tmp_path) == answered(tmp_path, "--help")


def test_every_command_explains_itself_in_80_columns(tmp_path):
    for command in COMMANDS:
        text = answered(tmp_path, command, "--help", COLUMNS="80")
        assert text.startswith(f"Usage: sweep {command}")
        assert max(map(len, text.splitlines())) <= 80


GROUPS = {
    "trials": ("exclude", "include", "retry", "enqueue"),
    "studies": ("list", "delete", "copy"),
    "storage": ("upgrade", "backup"),
}


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_lists_its_commands_and_each_explains_itself(tmp_path, group):
    listed = answered(tmp_path, group, "--help").partition("Commands:\n")[2]
    assert tuple(words(line)[0] for line in listed.splitlines()) == GROUPS[group]
    for command in GROUPS[group]:
        text = answered(tmp_path, group, command, "--help", COLUMNS="80")
        assert text.startswith(f"Usage: sweep {group} {command}")
        assert max(map(len, text.splitlines())) <= 80


def test_the_version_is_that_of_the_package(tmp_path):
    from sweep import __version__

    assert answered(tmp_path, "--version") == f"sweep {__version__}\n"


def test_status_says_where_a_study_stands(tmp_path, stored):
    lines = answered(tmp_path, "status", "--study", "lr_bs").splitlines()
    assert lines[:3] == [
        "study    lr_bs",
        "state    finished",
        "trials   6/6 finished: 4 complete, 1 pruned, 1 failed, 0 running, 0 waiting",
    ]
    assert lines[3].startswith("elapsed  ")
    assert lines[4:] == [
        "best     trial 1, test_accuracy 92.00%",
        "         optimizer=adam batch_size=32 lr=0.01",
        "failed   1 by diverged, the first is trial 3: the loss was not finite in epoch 2",
    ]


def test_status_in_json_has_the_same_facts(tmp_path, stored):
    facts = json.loads(answered(tmp_path, "status", "--study", "lr_bs", "--json"))
    assert (facts["study"], facts["state"], facts["leader"]) == ("lr_bs", "finished", None)
    assert (facts["complete"], facts["pruned"], facts["failed"]) == (4, 1, 1)
    assert facts["best"] == {
        "trial": 1,
        "value": 0.92,
        "params": {"optimizer": "adam", "batch_size": 32, "lr": 0.01},
    }
    assert json.loads(answered(tmp_path, "status", "--json")) == [facts]


def test_status_without_a_study_shows_all_of_them(tmp_path, url, stored):
    spec = make_spec({"lr": [0.1, 0.2, 0.3]}, name="another")
    fill_store(url, SnapshotBuilder(spec).complete(0.5, lr=0.1).build())
    header, first, second = answered(tmp_path, "status").splitlines()
    assert words(header)[:4] == ["study", "state", "trials", "complete"]
    assert words(first)[:6] == ["lr_bs", "finished", "6/6", "4", "1", "1"]
    assert words(second)[:4] == ["another", "not", "running", "1/3"]


def test_a_study_is_found_by_its_file_too(tmp_path, stored):
    (tmp_path / "study.yaml").write_text(
        "study: lr_bs\nobjective: {metric: test_accuracy, direction: maximize}\n"
        "data: {name: digits}\nmodel: {name: resnet18}\nspace: {lr: {choices: [0.1, 0.2]}}\n"
        "training: {epochs: 1}\n"
    )
    by_file = answered(tmp_path, "export", "--study", "study.yaml")
    assert by_file == answered(tmp_path, "export", "--study", "lr_bs")


def test_watching_ends_in_peace_with_ctrl_c(tmp_path, stored):
    watching = subprocess.Popen(
        [SWEEP, "status", "--watch"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    first = [watching.stdout.readline() for _ in range(3)]
    watching.send_signal(signal.SIGINT)
    assert watching.wait(DEADLINE_S) == 0
    watching.stdout.close()
    assert words(first[1])[:2] == ["lr_bs", "finished"]


def test_best_shows_the_complete_trials_best_first(tmp_path, stored):
    done = sweep(tmp_path, "best", "--study", "lr_bs", "--top", "2", COLUMNS="200")
    rows = [words(line)[:4] for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert rows[:2] == [["1", "adam", "32", "0.01"], ["5", "sgd", "64", "0.1"]]
    assert "chosen by test_accuracy, on the same data" in done.stderr


def test_best_by_cost_needs_no_accuracy(tmp_path, stored):
    ranked = answered(tmp_path, "best", "--study", "lr_bs", "--rank", "cost", "--format", "json")
    assert len(json.loads(ranked)) == 1


def test_best_as_yaml_can_stand_under_training_in_a_study_file(tmp_path, stored):
    text = answered(tmp_path, "best", "--study", "lr_bs", "--format", "yaml")
    assert text == (
        "  # trial 1 of lr_bs: test_accuracy 92.00%\n"
        "  epochs: 3\n  optimizer: adam\n  batch_size: 32\n  lr: 0.01\n"
    )
    (tmp_path / "again.yaml").write_text(
        "objective: {metric: test_accuracy, direction: maximize}\ndata: {name: digits}\n"
        "model: {name: resnet18}\nspace: {momentum: {choices: [0.9, 0.8]}}\n"
        f"training:\n{text.replace('adam', 'sgd')}"
    )
    spec = load_study_file(tmp_path / "again.yaml")
    assert spec.training == {"epochs": 3, "optimizer": "sgd", "batch_size": 32, "lr": 0.01}


def test_best_of_a_study_without_a_complete_trial_is_an_answer_too(tmp_path, url):
    spec = make_spec({"lr": [0.1, 0.2]}, name="poor")
    fill_store(url, SnapshotBuilder(spec).failed(lr=0.1).build())
    done = sweep(tmp_path, "best", "--study", "poor")
    assert done.stderr == (
        "error: study poor has no complete trial yet; look with: sweep status --study poor\n"
    )
    assert done.returncode == 1


TABLES = {"trials": trials_table, "epochs": epochs_table, "attempts": attempts_table}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_on_stdout_is_the_file_byte_by_byte(tmp_path, stored, name):
    arguments = ("export", "--study", "lr_bs", "--table", name)
    shown = answered(tmp_path, *arguments)
    assert shown.encode() == to_csv(TABLES[name]([stored]))
    done = sweep(tmp_path, *arguments, "-o", "table.csv")
    assert (done.stdout, done.stderr) == ("", "wrote table.csv\n")
    assert (tmp_path / "table.csv").read_bytes() == shown.encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs", "table.csv"]


def test_a_byte_order_mark_and_the_other_formats_are_there_for_the_asking(tmp_path, stored):
    arguments = ("export", "--study", "lr_bs")
    marked = sweep(tmp_path, *arguments, "--bom", "-o", "marked.csv")
    assert marked.returncode == 0
    assert (tmp_path / "marked.csv").read_bytes() == to_csv_with_bom(trials_table([stored]))
    records = json.loads(answered(tmp_path, *arguments, "--format", "json"))
    assert [record["trial"] for record in records] == [0, 1, 2, 3, 4, 5]
    assert answered(tmp_path, *arguments, "--format", "md").startswith("| study | trial | state |")
    table = answered(tmp_path, *arguments, "--format", "table", COLUMNS="70")
    assert max(map(len, table.splitlines())) <= 70


def test_columns_are_chosen_and_ordered(tmp_path, stored):
    text = answered(tmp_path, "export", "--study", "lr_bs", "--columns", "value, trial,lr")
    assert text.splitlines()[:2] == ["value,trial,lr", "0.9,0,0.1"]


def test_a_comparison_says_on_stderr_whether_it_is_controlled(tmp_path, stored):
    done = sweep(tmp_path, "export", "--study", "lr_bs", "--by", "batch_size")
    assert done.stderr == (
        "lr_bs: not a controlled comparison: optimizer, lr vary too, besides batch_size\n"
    )
    assert [line.split(",")[:5] for line in done.stdout.splitlines()] == [
        ["batch_size", "trials", "complete", "pruned", "failed"],
        ["32", "2", "2", "0", "0"],
        ["64", "3", "1", "1", "1"],
        ["128", "1", "1", "0", "0"],
    ]


def test_a_reader_who_leaves_early_ends_an_export_silently(tmp_path, stored):
    command = f"'{SWEEP}' export --study lr_bs --table epochs"
    script = f"set -o pipefail; {command} | true; echo code $?"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("code 0\n", "")


@pytest.mark.parametrize("command", ["export --study lr_bs", "status", "--help", "--version"])
def test_an_answer_that_nobody_can_get_is_a_fault_and_a_story_without_a_reader_is_none(
    tmp_path, stored, command
):
    def run(closed):
        script = ["bash", "-c", f"'{SWEEP}' {command} {closed}"]
        return subprocess.run(
            script, cwd=tmp_path, env=environment(), capture_output=True, text=True
        )

    without_stdout, without_both, without_stderr = run(">&-"), run(">&- 2>&-"), run("2>&-")
    assert without_stdout.stderr == "error: the answer cannot be written: stdout is closed\n"
    assert (without_stdout.returncode, without_both.returncode) == (4, 4)
    assert (without_stderr.returncode, bool(without_stderr.stdout)) == (0, True)


def test_a_command_without_an_answer_needs_no_stdout(tmp_path, stored):
    script = ["bash", "-c", f"'{SWEEP}' report --study lr_bs -o report.md >&-"]
    done = subprocess.run(script, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "wrote report.md\n")


def test_a_report_is_written_whole_in_both_forms(tmp_path, stored):
    for name, begin in (("report.html", "<!DOCTYPE html>"), ("report.md", "# Sweep report")):
        done = sweep(tmp_path, "report", "--study", "lr_bs", "-o", name)
        assert (done.returncode, done.stderr) == (0, f"wrote {name}\n")
        assert (tmp_path / name).read_text().startswith(begin)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.md", "runs"]


def test_the_studies_are_listed_the_oldest_first(tmp_path, url, stored):
    fill_store(url, SnapshotBuilder(make_spec({"lr": [0.1]}, name="second")).build())
    lines = answered(tmp_path, "studies", "list").splitlines()
    assert [words(line)[0] for line in lines] == ["study", "lr_bs", "second"]
    studies = json.loads(answered(tmp_path, "studies", "list", "--json"))
    assert [study["trials"] for study in studies] == [6, 0]


def test_stopping_what_does_not_run_leaves_no_request_behind(tmp_path, url, stored):
    from sweep.store.store import open_store

    done = sweep(tmp_path, "stop", "--study", "lr_bs")
    assert done.stderr == "study lr_bs is not running: nothing to stop\n"
    assert done.returncode == 0
    with open_store(url, create=False) as store:
        assert store.pending_requests(stored.study.id) == []


def test_a_log_is_shown_without_escape_sequences(tmp_path, url):
    log = tmp_path / "attempt.log"
    log.write_bytes(b"\x1b[31mred\x1b[0m\nplain \xff\n\x1b]0;title\x07end")
    spec = make_spec({"lr": [0.1]}, name="logged")
    builder = SnapshotBuilder(spec)
    builder.complete(0.5, lr=0.1, attempt={"log": str(log)})
    fill_store(url, builder.build())
    done = subprocess.run(
        [SWEEP, "logs", "--study", "logged", "--trial", "0", "-f"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=DEADLINE_S,
    )
    assert done.stdout == b"red\nplain \xff\nend"


def test_the_database_of_the_environment_is_found_and_a_flag_wins(tmp_path, stored):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    url = f"sqlite:///{tmp_path}/runs/sweep.db"
    for variable in ("SWEEP_STORAGE", "OPTUNA_STORAGE"):
        assert "lr_bs" in answered(elsewhere, "status", **{variable: url})
    done = sweep(elsewhere, "status", "--storage", "sqlite:///none.db", SWEEP_STORAGE=url)
    assert done.returncode == 3
    assert list(elsewhere.iterdir()) == []


def test_a_file_is_replaced_whole_with_the_rights_of_a_new_one(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")
    before = os.umask(0o027)
    try:
        write_whole(path, b"new")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_question_is_answered_soon(tmp_path, stored):
    """No heavy library is loaded: far below the seconds that torch takes."""
    for arguments in (["--help"], ["status"], ["check", "quickstart"]):
        began = time.monotonic()
        answered(tmp_path, *arguments)
        assert time.monotonic() - began < 5

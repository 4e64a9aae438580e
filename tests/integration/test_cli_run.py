"""`sweep run` for real: two short trials on digits, on a terminal and off it."""

import json
import os
import pty
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sweep.records import TrialState
from sweep.store.store import open_store
from tests.archives import serving
from tests.console_script import DEADLINE_S, SWEEP, answered, environment, sweep

DIGITS = """\
data: {name: digits}
model: {name: resnet18, width: 4}
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.01, 0.1]}}
training: {epochs: 1, precision: fp32}
search: {sampler: grid}
budget: {trials: 2}
"""
ENDLESS = """\
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {type: float, low: 0, high: 1}}
training: {epochs: 100000}
budget: {trials: 1}
"""
ENDLESS_CODE = """\
import time

def train(params, device, state=None):
    print("begun with", params["lr"], flush=True)
    for epoch in range(params["epochs"]):
        time.sleep(0.05)
        yield {"test_accuracy": 0.5}, {"epoch": epoch}
"""


Ran = tuple[Path, subprocess.CompletedProcess[str]]


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """A folder with the study file digits.yaml."""
    (tmp_path / "digits.yaml").write_text(DIGITS)
    return tmp_path


def test_a_dry_run_says_what_would_run_and_writes_nothing(digits):
    text = answered(digits, "run", "--study", "digits.yaml", "--cpu", "2", "--dry-run")
    assert "space       lr: one of 0.01, 0.1\n" in text
    assert "points      2\n" in text
    assert "slots       2 on the CPU, each with " in text
    assert "database    sqlite:///runs/sweep.db\n" in text
    assert [path.name for path in digits.iterdir()] == ["digits.yaml"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The study digits, run to its end."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "digits.yaml").write_text(DIGITS)
    return folder, sweep(folder, "run", "--study", "digits.yaml", "--cpu", "1")


def test_a_study_runs_to_its_end_in_plain_lines(ran):
    _, done = ran
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    # a slow machine is told of epochs too
    lines = [line for line in done.stderr.splitlines() if " epoch 1 of 1: " not in line]
    assert lines[0] == "study digits: 0 of 2 trials finished, 1 slot"
    assert lines[1] == "trial 0 starts on cpu 0: lr=0.01"
    assert re.fullmatch(
        r"trial 0 complete in \d+\.\d s: test_accuracy \d+\.\d\d%, the best so far "
        r"\(1 of 2, about \d+ s left\)",
        lines[2],
    )
    assert lines[3] == "trial 1 starts on cpu 0: lr=0.1"
    assert lines[4].endswith("(2 of 2)")
    answer = done.stdout.splitlines()
    assert re.fullmatch(r"best: trial \d, test_accuracy \d+\.\d\d%", answer[0])
    assert answer[1] in ("  lr  0.01", "  lr  0.1")
    assert answer[3:] == [
        "the best    sweep best --study digits",
        "compare     sweep export --study digits --by lr --format table",
        "all trials  sweep export --study digits -o trials.csv",
        "a report    sweep report --study digits -o report.html",
        "browse      sweep dashboard",
    ]


def test_a_study_that_is_finished_is_run_again_without_effect(ran):
    folder, done = ran
    again = sweep(folder, "run", "--study", "digits.yaml", "--cpu", "1")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert again.stderr == "nothing is left to do: all trials are finished\n"


def test_the_dashboard_shows_what_was_run_until_it_is_ended(ran):
    folder, _ = ran
    with subprocess.Popen(
        [SWEEP, "dashboard", "--port", "0"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stdout is not None
        address = serving.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}/api/studies", timeout=DEADLINE_S) as answer:
            studies = json.load(answer)["study_summaries"]
        serving.terminate()
        assert serving.wait(DEADLINE_S) == 128 + signal.SIGTERM
    assert [study["study_name"] for study in studies] == ["digits"]


def test_flags_win_over_the_file_and_later_commands_get_the_flags_they_need(digits):
    url = f"sqlite:///{digits}/elsewhere.db"
    done = sweep(
        digits, "run", "--study", "digits.yaml", "--name", "other", "--storage", url,
        "--trials", "1", "--seed", "7", "--set", "model.width=2", "--cpu", "1", "--run-dir", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"the best    sweep best --study other --storage {url}\n" in done.stdout
    with open_store(url, create=False) as store:
        study = store.study("other")
        assert study.seed == 7
        assert study.spec["recipe"]["model"]["width"] == 2
        assert len(store.trials(study.id)) == 1
    assert (digits / "out" / "other").is_dir()
    assert not (digits / "runs").exists()


def test_a_terminal_shows_a_line_for_each_slot(digits):
    code, shown = run_on_a_terminal(digits, "run", "--study", "digits.yaml", "--cpu", "1")
    assert code == 0, shown
    assert "digits   maximize test_accuracy" in shown
    assert re.search(r"slot +trial +epoch +accuracy +images/s +memory +curve +params", shown)
    assert re.search(r"cpu 0 +1 +0/1", shown)
    assert "2/2 trials" in shown
    assert "2 complete  0 pruned  0 failed  0 running  0 waiting" in shown
    assert re.search(r"best \d+\.\d\d% in trial \d: lr=0\.", shown)
    assert "\x1b[32m" in shown


def test_no_color_is_respected_on_a_terminal(digits):
    flags = ("run", "--study", "digits.yaml", "--cpu", "1", "--trials", "1")
    code, shown = run_on_a_terminal(digits, *flags, NO_COLOR="1")
    assert code == 0, shown
    assert "1/1 trials" in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", shown)


@contextmanager
def running_endless(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of a study whose only trial would take for ever, once it has stored an epoch."""
    (folder / "endless.yaml").write_text(ENDLESS)
    (folder / "mine.py").write_text(ENDLESS_CODE)
    command = [SWEEP, "run", "--study", "endless.yaml", "--cpu", "1", "--name", "endless"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("trial 0 starts"):
                break
        try:
            yield process
        finally:
            process.kill()


def test_a_running_study_can_be_looked_at_followed_and_stopped(tmp_path):
    with running_endless(tmp_path) as running:
        status = answered(tmp_path, "status", "--study", "endless")
        assert f"state    running, led by pid {running.pid} on " in status
        assert "running  trial 0 on cpu, epoch " in status
        with subprocess.Popen(
            [SWEEP, "logs", "--study", "endless", "--trial", "0", "-f"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as following:
            assert following.stdout is not None
            assert following.stdout.readline().startswith("begun with 0.")
            stopped = sweep(tmp_path, "stop", "--study", "endless")
            assert stopped.returncode == 0, stopped.stderr
            assert stopped.stderr.splitlines()[0].startswith(f"asked pid {running.pid} on ")
            assert stopped.stderr.endswith("study endless is stopped; run it again to go on\n")
            assert running.wait(DEADLINE_S) == 0
            assert following.wait(DEADLINE_S) == 0
    url = f"sqlite:///{tmp_path}/runs/sweep.db"
    with open_store(url, create=False) as store:
        study = store.study("endless")
        assert [trial.state for trial in store.trials(study.id)] == [TrialState.WAITING]
        assert store.pending_requests(study.id) == []


def test_ctrl_c_during_a_run_ends_with_130_and_says_how_far_it_came(tmp_path):
    with running_endless(tmp_path) as running:
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        said = running.stderr.read()
        assert running.wait(DEADLINE_S) == 130
    assert "stopped by SIGINT: each trial ends at its next epoch\n" in said
    assert said.endswith("trial 0 interrupted, to go on later: stopped\nstopped by SIGINT\n")


def test_a_stored_study_goes_on_without_its_file_and_says_where_its_code_has_changed(tmp_path):
    (tmp_path / "mine.py").write_text(ENDLESS_CODE)
    (tmp_path / "odd.yaml").write_text(f"study: kept\n{ENDLESS.replace('100000', '1')}")
    run = ("run", "--study", "kept", "--cpu", "1")
    unknown = sweep(tmp_path, *run)
    assert (unknown.returncode, "no study file 'kept'" in unknown.stderr) == (3, True)
    answered(tmp_path, "run", "--study", "odd.yaml", "--cpu", "1")
    code = "mine.py changed since the study began"
    again = sweep(tmp_path, *run, "--add-trials", "1")
    assert again.returncode == 0, again.stderr
    assert "no study file kept here: going on with the study as it is stored" in again.stderr
    assert code not in again.stderr
    (tmp_path / "mine.py").write_text(ENDLESS_CODE.replace("0.5", "0.6"))
    assert code in sweep(tmp_path, *run, "--add-trials", "1").stderr
    assert "3 complete" in answered(tmp_path, "status", "--study", "kept")
    changed = sweep(tmp_path, *run, "--trials", "9")
    assert changed.returncode == 2
    assert "name the file, or leave out the flags that change it" in changed.stderr


def test_a_download_is_told_of_before_its_fault(digits):
    text = (digits / "digits.yaml").read_text().replace("name: digits", "name: cifar10")
    (digits / "digits.yaml").write_text(text)
    name = "cifar-10-python.tar.gz"
    with serving({name: b"x" * 2048}) as server:
        server.length = 2048
        command = ("run", "--study", "digits.yaml", "--cpu", "1")
        ran = sweep(digits, *command, SWEEP_CIFAR10_URL=f"{server.url}/{name}")
    assert ran.returncode == 4
    begun, whole, fault = ran.stderr.splitlines()
    assert begun == f"fetching {name}: 0 bytes of 2.00 KiB"
    assert whole == f"fetching {name}: 2.00 KiB of 2.00 KiB"
    assert "is not the published" in fault


def test_the_files_that_init_writes_run_as_they_are(tmp_path):
    wrote = sweep(tmp_path, "init", "--train", "mine.py")
    assert wrote.stderr == (
        "wrote my_study.yaml and mine.py; try: sweep run --study my_study.yaml\n"
    )
    assert f"train      {tmp_path}/mine.py:train\n" in answered(tmp_path, "check", "my_study.yaml")
    done = sweep(
        tmp_path, "run", "--study", "my_study.yaml", "--trials", "2", "--cpu", "1",
        "--set", "search.pruner=none",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("best: trial ")


def test_a_reader_who_leaves_early_does_not_change_how_a_run_ended(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def train(params, device, state=None):\n    yield {1 / 0}\n"
    )
    (tmp_path / "mine.yaml").write_text(
        "train: ./mine.py:train\nobjective: {metric: test_accuracy, direction: maximize}\n"
        "space: {x: {choices: [1]}}\n"
    )
    script = f"set -o pipefail; '{SWEEP}' run --study mine.yaml --cpu 1 | true; echo code $?"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert done.stdout == "code 1\n", done.stderr


def run_on_a_terminal(folder: Path, *arguments: str, **changes: str) -> tuple[int, str]:
    """Run `sweep` with stderr on a terminal of 80 columns; its exit code and what that showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [SWEEP, *arguments],
        cwd=folder,
        env=environment(TERM="xterm-256color", COLUMNS="80", LINES="24", **changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:
        pass  # how Linux says that the other end has closed
    finally:
        os.close(ours)
    return process.wait(DEADLINE_S), shown.decode()

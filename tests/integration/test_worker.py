"""The real worker, started as the fleet starts it, with train functions of a user's own."""

from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from sweep.coordinator.events import EpochStored, SweepEnded
from sweep.coordinator.plan import Plan
from sweep.errors import TrainFunctionError
from sweep.fleet.slots import cpu_slots
from sweep.records import Cause, TrialState
from sweep.spec.load import load_study_file
from tests.scripted import run_to_end, run_until, stored

STUDY = """\
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {quality: {choices: [0.5, 0.9]}}
training: {epochs: 3}
search: {sampler: grid}
"""


def _plan(folder: Path, train: str, study: str = STUDY) -> Plan:
    (folder / "mine.py").write_text(dedent(train))
    (folder / "mine.yaml").write_text(study)
    return Plan(
        spec=load_study_file(folder / "mine.yaml"),
        url=f"sqlite:///{folder}/out/sweep.db",
        run_folder=folder / "out",
        slots=cpu_slots(1),
    )


def test_a_generator_of_ten_lines_is_pruned_stored_and_resumed(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        """
        def train(params, device, state=None):
            done = 0 if state is None else state["done"]
            print("starts after", done, "epochs on", device)
            for epoch in range(done, params["epochs"]):
                accuracy = params["quality"] * (epoch + 1) / params["epochs"]
                yield {"test_accuracy": accuracy, "loss": 1 - accuracy}, {"done": epoch + 1}
        """,
    )
    run_until(plan, EpochStored, 2)
    assert run_to_end(plan) == SweepEnded(reason="the space is exhausted", exit_code=0)
    snapshot = stored(plan)
    assert [trial.value for trial in snapshot.trials] == [0.5, 0.9]
    assert [(each.trial, each.epoch, each.attempt) for each in snapshot.epochs] == [
        (0, 0, 1),
        (0, 1, 1),
        (0, 2, 2),
        (1, 0, 1),
        (1, 1, 1),
        (1, 2, 1),
    ]
    assert snapshot.epochs[0].epoch_s >= 0
    assert (snapshot.epochs[0].peak_memory_bytes or 0) > 0
    logs = [Path(str(attempt.log)).read_text() for attempt in snapshot.attempts]
    assert "starts after 0 epochs on cpu" in logs[0]
    assert "starts after 2 epochs on cpu" in logs[1]


def test_a_function_without_state_starts_over_and_its_log_says_so(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        """
        def train(params, device):
            for epoch in range(3):
                yield {"test_accuracy": params["quality"]}
        """,
    )
    run_until(plan, EpochStored, 2)
    run_to_end(plan)
    snapshot = stored(plan)
    first = [each for each in snapshot.epochs if each.trial == 0]
    assert [(each.epoch, each.attempt) for each in first] == [(0, 2), (1, 2), (2, 2)]
    log = Path(str(snapshot.attempts[1].log)).read_text()
    assert "no state was saved: attempt 2 starts over" in log


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return\n    yield", "the train function ended without a yield; yield each epoch"),
        ("yield 'text'", "the train function yields str 'text'; it must yield a dict"),
        (
            "yield {'accuracy': 1}",
            "the train function never yielded the objective's metric 'test_accuracy'",
        ),
        ("yield {'test_accuracy': 1}, open('/dev/null')", "state is a TextIOWrapper"),
    ],
)
def test_a_function_that_breaks_its_contract_stops_the_study(
    tmp_path: Path, body: str, message: str
) -> None:
    plan = _plan(tmp_path, f"def train(params, device, state=None):\n    {body}\n")
    ended = run_to_end(plan)
    assert ended.exit_code == 1
    assert ended.reason.startswith(message)
    trials = stored(plan).trials
    assert [(trial.state, trial.cause) for trial in trials] == [
        (TrialState.FAILED, Cause.EXCEPTION)
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('a\\nb')", "ValueError: a"),
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("raise RuntimeError", "RuntimeError"),
        ("yield {'test_accuracy': True}", "the train function's metric test_accuracy is bool"),
    ],
)
def test_what_a_function_raises_is_the_failure_of_its_trial(
    tmp_path: Path, body: str, message: str
) -> None:
    plan = _plan(tmp_path, f"def train(params, device, state=None):\n    {body}\n    yield\n")
    assert run_to_end(plan).exit_code == 1
    trial = stored(plan).trials[0]
    assert (trial.message or "").startswith(message)
    assert "Traceback" in Path(str(stored(plan).attempts[0].log)).read_text()


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ("def trian(params, device): yield {}", "has no function train; did you mean trian?"),
        ("def train(params, device): return 1", "is not a generator"),
        ("import nowhere", "No module named 'nowhere'"),
        ("def train(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit"),
    ],
)
def test_a_function_that_cannot_be_used_is_refused_before_anything_is_written(
    tmp_path: Path, train: str, message: str
) -> None:
    plan = _plan(tmp_path, train)
    with pytest.raises(TrainFunctionError) as refusal:
        run_to_end(plan)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "out").exists()


def test_memory_that_runs_out_is_a_cause_of_its_own(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        """
        import torch

        def train(params, device, state=None):
            yield {"test_accuracy": 0.1}
            torch.empty(2**50)
        """,
    )
    run_to_end(plan)
    assert stored(plan).trials[0].cause is Cause.OUT_OF_MEMORY


def test_a_model_of_ones_own_is_built_by_its_factory(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        """
        import torch

        def build(num_classes, in_channels):
            print("built for", num_classes, in_channels)
            return torch.nn.Sequential(
                torch.nn.Flatten(), torch.nn.Linear(64 * in_channels, num_classes)
            )
        """,
        """\
data: {name: digits}
model: {factory: ./mine.py:build}
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.1]}}
training: {epochs: 2, batch_size: 64}
search: {sampler: grid}
""",
    )
    assert run_to_end(plan).exit_code == 0
    assert (stored(plan).trials[0].value or 0) > 0.5


def test_the_worker_sees_no_database_url_and_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEEP_STORAGE", "postgresql://me:secret@nowhere/x")
    monkeypatch.setenv("PGPASSWORD", "secret")
    plan = _plan(
        tmp_path,
        """
        import os

        def train(params, device, state=None):
            print("secret" in str(dict(os.environ)))
            yield {"test_accuracy": 1}
        """,
    )
    run_to_end(plan)
    assert "False" in Path(str(stored(plan).attempts[0].log)).read_text()


def test_a_function_that_will_not_stop_is_pruned_all_the_same(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        """
        def train(params, device, state=None):
            for epoch in range(params["epochs"]):
                try:
                    yield {"test_accuracy": params["quality"]}
                except GeneratorExit:
                    pass
        """,
        STUDY.replace("[0.5, 0.9]", "[0.9, 0.5, 0.8]").replace(
            "search: {sampler: grid}",
            "search: {sampler: grid, pruner: {name: median, startup_trials: 1, min_epochs: 1}}",
        ),
    )
    run_to_end(plan)
    states = [trial.state for trial in stored(plan).trials]
    assert states == [TrialState.COMPLETE, TrialState.PRUNED, TrialState.PRUNED]


def test_what_a_function_does_to_its_output_stays_in_its_own_trial(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        r"""
        import os, sys

        def train(params, device, state=None):
            print("hello from", params["quality"])
            os.write(1, b"\xff\x00binary\n")
            if params["quality"] == 0.5:
                sys.stdout.close()
                sys.stderr = None
                os.close(1)
            os.chdir("/")
            yield {"test_accuracy": params["quality"]}
            raise RuntimeError("half a character: \ud800")
        """,
    )
    run_to_end(plan)
    snapshot = stored(plan)
    assert {trial.message for trial in snapshot.trials} == {"RuntimeError: half a character: ?"}
    logs = [Path(str(each.log)).read_bytes() for each in snapshot.attempts if each.attempt == 1]
    assert [b"hello from" in log for log in logs] == [True, True]


def test_a_hang_leaves_in_the_log_where_each_thread_stood(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        """
        import threading

        def wait_for_nothing():
            threading.Event().wait()

        def train(params, device, state=None):
            yield {"test_accuracy": 0.5}
            wait_for_nothing()
        """,
        STUDY.replace("[0.5, 0.9]", "[0.5]") + "resources: {hang_after: 1s}\n",
    )
    assert run_to_end(plan).exit_code == 1
    snapshot = stored(plan)
    assert snapshot.trials[0].cause is Cause.HUNG
    first = Path(snapshot.attempts[0].log or "").read_text()
    assert "in wait_for_nothing" in first
    assert "in train" in first


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os; os._exit(0)", "exited with status 0"),
        ("import os; os.abort()", r"was killed by signal 6 \(SIGABRT\)"),
    ],
)
def test_code_that_ends_the_process_that_imports_it_is_told_from_a_broken_device(
    tmp_path: Path, code: str, how: str
) -> None:
    plan = _plan(tmp_path, code)
    expected = rf"^the import of .*/mine\.py ended the process: it {how}; import it in Python"
    with pytest.raises(TrainFunctionError, match=expected):
        run_to_end(plan)
    assert not (tmp_path / "out" / "sweep.db").exists()


def test_what_a_train_function_has_put_out_of_its_group_ends_with_it(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path,
        """
        import subprocess

        def train(params, device, state=None):
            sleep = ["sleep", "600"]
            own_session = subprocess.Popen(sleep, start_new_session=True)
            orphan = subprocess.run(
                ["sh", "-c", "setsid sleep 600 >/dev/null & echo $!"],
                stdout=subprocess.PIPE, text=True,
            )
            with open("pids.txt", "a") as file:
                print(own_session.pid, orphan.stdout.strip(), file=file)
            yield {"test_accuracy": 0.5}
        """.replace("pids.txt", str(tmp_path / "pids.txt")),
        STUDY.replace("epochs: 3", "epochs: 1"),
    )
    assert run_to_end(plan).exit_code == 0
    pids = [int(word) for word in (tmp_path / "pids.txt").read_text().split()]
    assert len(pids) == 4
    assert not [pid for pid in pids if psutil.pid_exists(pid) and _is_alive(pid)]


def _is_alive(pid: int) -> bool:
    return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE

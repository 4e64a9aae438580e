"""A trial on several devices: further ranks in the worker's process group, and how they end."""

import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import dedent
from time import monotonic

import psutil
import pytest

from sweep.coordinator.events import EpochStored
from sweep.coordinator.plan import Plan
from sweep.fleet.slots import cpu_slots
from sweep.records import Cause, TrialState
from sweep.spec.load import load_study_file
from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.wire import Action, EpochReport, Failed, Finished
from tests.scripted import run_to_end, run_until, stored
from tests.worker_talk import Talk, talk

RECIPE = RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(width=8))
TRAINING = {"epochs": 3, "batch_size": 128, "lr": 0.05, "precision": "fp32"}
TWO = {"other_devices": [""]}
DEADLINE_S = 30.0
STUDY = """\
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {quality: {choices: [0.5, 0.9]}}
training: {epochs: 3}
search: {sampler: grid}
resources: {gpus_per_trial: 2}
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Talk]:
    with talk(RECIPE, tmp_path) as talking:
        yield talking


def ranks_of(pid: int) -> list[psutil.Process]:
    """The further ranks that a worker has started."""
    children = psutil.Process(pid).children(recursive=True)
    return [each for each in children if "sweep.worker.rank" in each.cmdline()]


def wait_until_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=DEADLINE_S)
    assert not alive, f"still there: {alive}"


def plan_of(folder: Path, train: str, slots: int = 2) -> Plan:
    (folder / "mine.py").write_text(dedent(train))
    (folder / "mine.yaml").write_text(STUDY)
    return Plan(
        spec=load_study_file(folder / "mine.yaml"),
        url=f"sqlite:///{folder}/out/sweep.db",
        run_folder=folder / "out",
        slots=cpu_slots(slots, gpus_per_trial=2),
    )


def test_two_devices_share_each_batch_and_the_second_rank_ends_with_the_trial(
    worker: Talk,
) -> None:
    seen: list[psutil.Process] = []

    def answer(report: EpochReport) -> Action:
        seen.extend(ranks_of(worker.pid))
        assert {os.getpgid(each.pid) for each in seen} == {worker.pid}, "one group for all"
        return Action.CONTINUE

    told = worker.trial(0, TRAINING, answer, **TWO)
    assert told.end == Finished(trial=0, attempt=1, stopped=False)
    assert [(each.epoch, each.micro_batch) for each in told.reports] == [(n, 64) for n in range(3)]
    assert told.reports[-1].metrics["test_accuracy"] > 0.5
    assert len({each.pid for each in seen}) == 1
    wait_until_gone(seen)
    assert worker.trial(1, TRAINING).reports[0].micro_batch == 128, "the worker is as before"


def test_a_trial_that_is_stopped_ends_on_all_its_devices(worker: Talk) -> None:
    told = worker.trial(0, TRAINING, lambda report: Action.STOP, **TWO)
    assert told.end == Finished(trial=0, attempt=1, stopped=True)
    assert not ranks_of(worker.pid)


def test_a_trial_on_two_devices_goes_on_from_a_checkpoint(worker: Talk) -> None:
    unbroken = worker.trial(4, TRAINING, **TWO)
    saved = unbroken.reports[0].checkpoint
    resumed = worker.trial(4, TRAINING, resume=[saved], **TWO)
    assert [each.metrics for each in resumed.reports] == [
        each.metrics for each in unbroken.reports[1:]
    ]


def test_a_rank_that_is_killed_ends_the_attempt_at_once_as_a_lost_worker(worker: Talk) -> None:
    killed_at_s = 0.0

    def answer(report: EpochReport) -> Action:
        nonlocal killed_at_s
        (rank,) = ranks_of(worker.pid)
        rank.kill()
        killed_at_s = monotonic()
        return Action.CONTINUE

    told = worker.trial(0, TRAINING, answer, **TWO)
    assert isinstance(told.end, Failed)
    assert told.end.cause is Cause.LOST
    assert told.end.message == "rank 1 was killed by signal 9 (SIGKILL)"
    assert monotonic() - killed_at_s < DEADLINE_S
    assert told.log.rstrip().endswith("rank 1 was killed by signal 9 (SIGKILL)")


def test_the_ranks_die_with_their_worker(worker: Talk) -> None:
    def answer(report: EpochReport) -> Action:
        ranks.extend(ranks_of(worker.pid))
        os.kill(worker.pid, signal.SIGKILL)
        return Action.CONTINUE

    ranks: list[psutil.Process] = []
    with pytest.raises(AssertionError, match="the worker was killed by signal 9"):
        worker.trial(0, TRAINING, answer, **TWO)
    assert ranks
    wait_until_gone(ranks)


NET = '''
from pathlib import Path

import torch
from torch import distributed, nn


class Net(nn.Sequential):
    """The second rank has no memory for the backward pass of more images than 40."""

    def forward(self, x):
        is_second = distributed.is_initialized() and distributed.get_rank() == 1
        if torch.is_grad_enabled() and is_second and len(x) > 40:
            raise torch.OutOfMemoryError(f"CUDA out of memory with {len(x)} images")
        return super().forward(x)


def build(num_classes, in_channels):
    return Net(nn.Conv2d(in_channels, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, num_classes))
'''


@pytest.mark.parametrize(
    ("on_oom", "sizes", "too_large"), [("accumulate", [32, 32, 32], 64), ("prune", [], 64)]
)
def test_memory_that_runs_out_on_any_rank_is_the_trials(
    tmp_path: Path, on_oom: str, sizes: list[int], too_large: int
) -> None:
    (tmp_path / "net.py").write_text(NET)
    factory = f"{tmp_path / 'net.py'}:build"
    recipe = RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(factory=factory))
    with talk(recipe, tmp_path) as worker:
        told = worker.trial(0, {**TRAINING, "on_oom": on_oom}, **TWO)
    assert [each.micro_batch for each in told.reports] == sizes
    assert {each.too_large for each in told.reports} <= {too_large}
    if not sizes:
        assert isinstance(told.end, Failed)
        assert (told.end.cause, told.end.too_large) == (Cause.OUT_OF_MEMORY, too_large)
        assert "rank 1: OutOfMemoryError: CUDA out of memory with 64 images" in told.end.message


def test_ones_own_function_runs_on_each_device_within_torchs_group(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
        import torch
        from torch import distributed

        def train(params, device, state=None):
            done = 0 if state is None else state["done"]
            rank = distributed.get_rank()
            print(f"rank {rank} of {distributed.get_world_size()} after {done} epochs")
            for epoch in range(done, params["epochs"]):
                total = torch.tensor([float(rank + 1)])
                distributed.all_reduce(total)
                yield {"test_accuracy": params["quality"], "total": total}, {"done": epoch + 1}
        """,
    )
    run_until(plan, EpochStored, 2)
    run_to_end(plan)
    snapshot = stored(plan)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 2
    assert {epoch.metrics["total"] for epoch in snapshot.epochs} == {3.0}
    assert {attempt.num_devices for attempt in snapshot.attempts} == {2.0}
    log = Path(str(snapshot.attempts[1].log)).read_text()
    assert "rank 0 of 2 after 2 epochs" in log
    assert "rank 1 of 2 after 2 epochs" in log


def test_a_rank_that_dies_costs_an_attempt_and_not_the_trial(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
        import os, signal
        from pathlib import Path
        from torch import distributed

        died = Path(__file__).with_name("died")

        def train(params, device, state=None):
            for epoch in range(0 if state is None else state["done"], params["epochs"]):
                if epoch == 1 and distributed.get_rank() == 1 and not died.exists():
                    died.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                distributed.barrier()
                yield {"test_accuracy": params["quality"]}, {"done": epoch + 1}
        """,
    )
    assert run_to_end(plan).exit_code == 0
    snapshot = stored(plan)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 2
    first, second, _ = snapshot.attempts
    assert (first.cause, first.message) == (
        Cause.LOST,
        "rank 1 was killed by signal 9 (SIGKILL)",
    )
    assert second.state is TrialState.COMPLETE


def test_a_worker_that_waits_for_a_dead_rank_for_ever_is_given_up_too(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
        import time
        from torch import distributed

        def train(params, device, state=None):
            if distributed.get_rank() == 1:
                raise ValueError("no such thing")
            time.sleep(600)
            yield {"test_accuracy": 0.5}
        """,
    )
    started = monotonic()
    ended = run_to_end(plan)
    assert monotonic() - started < 4 * DEADLINE_S
    assert ended.exit_code == 1
    snapshot = stored(plan)
    assert {trial.message for trial in snapshot.trials} == {"rank 1: ValueError: no such thing"}
    assert {trial.cause for trial in snapshot.trials} == {Cause.EXCEPTION}
    assert "ValueError: no such thing" in Path(str(snapshot.attempts[0].log)).read_text()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("raise RuntimeError('no')", "rank 1: RuntimeError: no"),
        ("os._exit(0)", "rank 1 exited with status 0"),
        ("os.kill(os.getpid(), 9)", "rank 1 was killed by signal 9 (SIGKILL)"),
    ],
)
def test_a_rank_that_fails_is_never_passed_over_however_short_the_trial(
    tmp_path: Path, fault: str, message: str
) -> None:
    """Also where the ranks never wait for each other, and the first would be done before."""
    code = f"""
    import os
    from torch import distributed

    def train(params, device, state=None):
        for epoch in range(params["epochs"]):
            if distributed.get_rank() == 1:
                {fault}
            yield {{"test_accuracy": 0.5}}
    """
    (tmp_path / "mine.py").write_text(dedent(code))
    with talk(RecipeSpec(train=f"{tmp_path}/mine.py:train"), tmp_path) as worker:
        told = worker.trial(0, {"epochs": 2}, lambda _: Action.CONTINUE, **TWO)
    assert isinstance(told.end, Failed)
    assert told.end.message == message
    reason = message.removeprefix("rank 1: ")  # which ends its traceback
    assert told.log.rstrip().endswith(reason)


def own_talk(folder: Path, code: str) -> AbstractContextManager[Talk]:
    (folder / "mine.py").write_text(dedent(code))
    return talk(RecipeSpec(train=f"{folder}/mine.py:train"), folder)


@pytest.mark.parametrize("answer", list(Action))
def test_a_rank_that_fails_long_after_the_first_is_done_fails_the_attempt(
    tmp_path: Path, answer: Action
) -> None:
    code = """
    import time
    from torch import distributed

    def train(params, device, state=None):
        if distributed.get_rank() == 1:
            time.sleep(12)  # longer than a rank that is done may take to be gone
            raise ValueError("late")
        yield {"test_accuracy": 0.5}
    """
    with own_talk(tmp_path, code) as worker:
        told = worker.trial(0, {"epochs": 1}, lambda _: answer, **TWO)
    assert isinstance(told.end, Failed)
    assert (told.end.cause, told.end.message) == (Cause.EXCEPTION, "rank 1: ValueError: late")


NCCL_LIKE = """
import os, time
import torch
from torch import distributed

# What gloo does at once, NCCL does when all the others do it too.
def wait_for_ever(*_):
    time.sleep(600)

distributed.destroy_process_group = wait_for_ever
"""


@pytest.mark.parametrize(
    ("failing", "message", "cause"),
    [
        (0, "OutOfMemoryError: no room", Cause.OUT_OF_MEMORY),
        (1, "rank 1: OutOfMemoryError: no room", Cause.OUT_OF_MEMORY),
    ],
)
def test_a_team_that_fails_waits_for_nobody_as_nccl_would(
    tmp_path: Path, failing: int, message: str, cause: Cause
) -> None:
    code = f"""
def train(params, device, state=None):
    yield {{"test_accuracy": 0.5}}
    if distributed.get_rank() == {failing}:
        print("the last words", flush=not {failing}, end="")
        raise torch.OutOfMemoryError("no room")
    wait_for_ever()
"""
    began_s = 0.0

    def answer(_: EpochReport) -> Action:
        nonlocal began_s
        began_s = monotonic()
        return Action.CONTINUE

    with own_talk(tmp_path, NCCL_LIKE + code) as worker:
        told = worker.trial(0, {"epochs": 2}, answer, **TWO, on_oom=None)
        assert monotonic() - began_s < 15
    assert isinstance(told.end, Failed)
    assert (told.end.message, told.end.cause) == (message, cause)
    assert "the last words" in told.log


def test_a_rank_that_fails_is_told_of_though_what_it_has_started_keeps_its_pipe(
    tmp_path: Path,
) -> None:
    code = """
def train(params, device, state=None):
    if distributed.get_rank() == 1:
        if os.fork() == 0:
            wait_for_ever()
        raise ValueError("no such thing")
    wait_for_ever()
    yield {}
"""
    with own_talk(tmp_path, NCCL_LIKE + code) as worker:
        told = worker.trial(0, {"epochs": 1}, **TWO)
    assert isinstance(told.end, Failed)
    assert told.end.message == "rank 1: ValueError: no such thing"


def test_a_failure_is_told_though_leaving_the_group_takes_for_ever(tmp_path: Path) -> None:
    code = """
distributed.distributed_c10d._abort_process_group = wait_for_ever

def train(params, device, state=None):
    if distributed.get_rank() == 0:
        raise ValueError("no such thing")
    wait_for_ever()
    yield {}
"""
    with own_talk(tmp_path, NCCL_LIKE + code) as worker:
        told = worker.trial(0, {"epochs": 1}, **TWO)
    assert isinstance(told.end, Failed)
    assert (told.end.message, told.end.cause) == ("ValueError: no such thing", Cause.EXCEPTION)


@pytest.mark.parametrize("fails", [False, True])
def test_ones_own_function_may_leave_the_group_by_itself_as_scripts_do(
    tmp_path: Path, fails: bool
) -> None:
    code = f"""
    from torch import distributed

    def train(params, device, state=None):
        yield {{"test_accuracy": 0.5}}
        distributed.destroy_process_group()
        if {fails}:
            raise ValueError("no such thing")
    """
    with own_talk(tmp_path, code) as worker:
        told = worker.trial(0, {"epochs": 1}, **TWO)
    if fails:
        assert isinstance(told.end, Failed)
        assert told.end.message.endswith("ValueError: no such thing")
    else:
        assert told.end == Finished(trial=0, attempt=1, stopped=False)


def test_a_rank_that_is_slow_or_has_more_epochs_is_waited_for_and_not_blamed(
    tmp_path: Path,
) -> None:
    code = """
    import time
    from pathlib import Path
    from torch import distributed

    def train(params, device, state=None):
        rank = distributed.get_rank()
        yield {"test_accuracy": 0.5}
        if rank == 1:
            time.sleep(12)
            yield {"test_accuracy": 0.5}
            yield {"test_accuracy": 0.5}
            Path(__file__).with_name("too_far").touch()
    """
    with own_talk(tmp_path, code) as worker:
        told = worker.trial(0, {"epochs": 1}, **TWO)
    assert told.end == Finished(trial=0, attempt=1, stopped=False)
    assert not (tmp_path / "too_far").exists()


def test_ones_own_function_finds_its_rank_in_the_environment_as_torchrun_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "7")  # whatever the user's shell has is there again afterwards
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    code = """
    import os

    NAMES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")

    def train(params, device, state=None):
        print(*(os.environ.get(name) for name in NAMES), flush=True)
        yield {"test_accuracy": 0.5}
    """
    with own_talk(tmp_path, code) as worker:
        together = worker.trial(0, {"epochs": 1}, **TWO).log
        alone = worker.trial(1, {"epochs": 1}).log
    assert {"0 0 2 2", "1 1 2 2"} <= set(together.splitlines())
    assert "7 None None None" in alone.splitlines()

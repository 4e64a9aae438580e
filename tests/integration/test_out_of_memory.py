"""Memory that runs out, acted by a network of the user's own: what becomes of the trial."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sweep.coordinator.limits import recipe_hash
from sweep.coordinator.plan import Plan
from sweep.fleet.slots import cpu_slots, num_cores
from sweep.records import Cause, Checkpoint, TrialState
from sweep.spec.load import load_study_file
from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.wire import Action, EpochReport, Failed, Finished
from tests.scripted import run_to_end, stored
from tests.worker_talk import Talk, talk

NET = '''
import weakref
from pathlib import Path

import torch
from torch import nn

alive = weakref.WeakSet()


class Net(nn.Sequential):
    """Has no memory for the backward pass of more images than the file beside it says."""

    def forward(self, x):
        if torch.is_grad_enabled() and len(x) > int(Path(__file__).with_name("room").read_text()):
            raise torch.OutOfMemoryError(f"CUDA out of memory with {len(x)} images")
        return super().forward(x)


def build(num_classes, in_channels):
    print("networks in memory:", len(alive))
    net = Net(nn.Conv2d(in_channels, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
              nn.Linear(144, num_classes))
    alive.add(net)
    return net
'''
STUDY = """\
data: {name: digits}
model: {factory: ./net.py:build}
objective: {metric: test_accuracy, direction: maximize}
space: {batch_size: {choices: [128, 64]}}
training: {epochs: 2, lr: 0.05, on_oom: accumulate}
search: {sampler: grid}
"""
TRAINING = {"epochs": 3, "batch_size": 128, "lr": 0.05}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the network, which has room for 40 images."""
    (tmp_path / "net.py").write_text(NET)
    give_room(tmp_path, 40)
    return tmp_path


@pytest.fixture
def worker(folder: Path) -> Iterator[Talk]:
    with talk(recipe(folder), folder) as talking:
        yield talking


def give_room(folder: Path, num_images: int) -> None:
    (folder / "room").write_text(str(num_images))


def recipe(folder: Path) -> RecipeSpec:
    factory = f"{folder / 'net.py'}:build"
    return RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(factory=factory))


def with_room(
    worker: Talk, folder: Path, resume: Sequence[Checkpoint] = (), **training: Any
) -> list[Mapping[str, float | None]]:
    """What the trial with seed 5 measures in the same worker where there is room."""
    give_room(folder, 1000)
    told = worker.trial(99, {**TRAINING, **training}, seed=5, resume=[*resume])
    return [report.metrics for report in told.reports]


def test_the_trial_starts_over_with_half_as_many_images_at_once_until_they_fit(
    worker: Talk, folder: Path
) -> None:
    told = worker.trial(5, TRAINING)
    assert told.end == Finished(trial=5, attempt=1, stopped=False)
    assert [(each.epoch, each.micro_batch, each.too_large) for each in told.reports] == [
        (0, 32, 64),
        (1, 32, 64),
        (2, 32, 64),
    ]
    metrics = [report.metrics for report in told.reports]
    assert metrics == with_room(worker, folder, accumulate=4)
    said = [line for line in told.log.splitlines() if "images at once" in line]
    assert [line.partition(":")[0] for line in said] == ["OutOfMemoryError"] * 2
    assert "with 64 images at once" in said[0]
    assert "with 32 images at once: the optimizer sees the same batches, BatchNorm" in said[1]


def test_what_the_failed_try_held_is_free_before_the_next_one(worker: Talk) -> None:
    told = worker.trial(0, TRAINING)
    assert told.log.count("networks in memory: 0") == 3
    assert told.log.count("networks in memory:") == 3


def test_later_it_goes_on_from_the_last_checkpoint(worker: Talk, folder: Path) -> None:
    def answer(report: EpochReport) -> Action:
        give_room(folder, 64 if report.epoch == 1 else 1000)
        return Action.CONTINUE

    give_room(folder, 1000)
    told = worker.trial(5, {**TRAINING, "epochs": 4}, answer)
    assert [(each.epoch, each.micro_batch, each.too_large) for each in told.reports] == [
        (0, 128, None),
        (1, 128, None),
        (2, 64, 128),
        (3, 64, 128),
    ]
    metrics = [report.metrics for report in told.reports]
    assert metrics[:2] == with_room(worker, folder, epochs=4)[:2]
    saved = told.reports[1].checkpoint
    assert saved is not None
    assert metrics[2:] == with_room(worker, folder, [saved], epochs=4, accumulate=2)


def test_without_a_checkpoint_no_epoch_is_reported_twice(worker: Talk, folder: Path) -> None:
    def answer(report: EpochReport) -> Action:
        give_room(folder, 64 if report.epoch == 1 else 1000)
        return Action.CONTINUE

    give_room(folder, 1000)
    told = worker.trial(5, TRAINING, answer, keeps_checkpoints=False)
    assert told.end == Finished(trial=5, attempt=1, stopped=False)
    assert [(each.epoch, each.micro_batch) for each in told.reports] == [
        (0, 128),
        (1, 128),
        (2, 64),
    ]


def test_what_does_not_fit_with_sixteen_images_fails_for_want_of_memory(
    worker: Talk, folder: Path
) -> None:
    give_room(folder, 10)
    told = worker.trial(0, TRAINING)
    assert isinstance(told.end, Failed)
    assert (told.end.cause, told.end.too_large) == (Cause.OUT_OF_MEMORY, 16)
    assert told.end.message == "OutOfMemoryError: CUDA out of memory with 16 images"
    assert "Traceback" in told.log


@pytest.mark.parametrize(
    ("on_oom", "cause"), [("prune", Cause.OUT_OF_MEMORY), ("fail", Cause.EXCEPTION)]
)
def test_a_study_may_give_such_trials_up(worker: Talk, on_oom: str, cause: Cause) -> None:
    told = worker.trial(0, {**TRAINING, "on_oom": on_oom})
    assert isinstance(told.end, Failed)
    assert (told.end.cause, told.end.too_large) == (cause, 128)
    again = worker.trial(1, {**TRAINING, "on_oom": on_oom}, too_large=128)
    assert isinstance(again.end, Failed)
    assert again.end.cause is cause
    assert again.end.message == "128 images at once did not fit on such a device before"
    assert again.log.strip() == again.end.message


def test_what_is_known_not_to_fit_is_not_tried(worker: Talk) -> None:
    told = worker.trial(0, TRAINING, too_large=64)
    assert [(each.micro_batch, each.too_large) for each in told.reports] == [(32, None)] * 3
    assert "OutOfMemoryError" not in told.log


def plan(folder: Path, name: str, study: str = STUDY) -> Plan:
    (folder / f"{name}.yaml").write_text(study)
    return Plan(
        spec=load_study_file(folder / f"{name}.yaml"),
        url=f"sqlite:///{folder}/out/sweep.db",
        run_folder=folder / "out",
        slots=cpu_slots(num_cores())[:1],
    )


def logs(plan: Plan) -> str:
    return "".join(Path(str(each.log)).read_text() for each in stored(plan).attempts)


def test_no_later_trial_of_any_study_starts_with_what_did_not_fit(folder: Path) -> None:
    first, second = plan(folder, "first"), plan(folder, "second")
    assert run_to_end(first).exit_code == 0
    assert run_to_end(second).exit_code == 0
    assert logs(first).count("OutOfMemoryError") == 2
    assert logs(second).count("OutOfMemoryError") == 0
    for each in (first, second):
        snapshot = stored(each)
        assert {trial.state for trial in snapshot.trials} == {TrialState.COMPLETE}
        assert {epoch.micro_batch for epoch in snapshot.epochs} == {32}
        assert all((epoch.baseline_memory_bytes or 0) > 2**20 for epoch in snapshot.epochs)


def test_a_size_that_did_not_fit_is_pruned_untried_where_the_study_says_so(folder: Path) -> None:
    pruning = STUDY.replace("accumulate", "prune").replace("[128, 64]", "[128, 32, 64, 256]")
    run_to_end(plan(folder, "pruning", pruning))
    trials = stored(plan(folder, "pruning", pruning)).trials
    found = {trial.params["batch_size"]: trial for trial in trials}
    assert found[32].state is TrialState.COMPLETE
    for size in (64, 128, 256):
        assert found[size].cause is Cause.OUT_OF_MEMORY
    assert "did not fit on such a device before" in (found[256].message or "")


def test_a_network_that_was_edited_is_tried_anew(folder: Path) -> None:
    before = recipe_hash(recipe(folder))
    assert recipe_hash(recipe(folder)) == before
    (folder / "net.py").write_text(NET.replace("Conv2d(in_channels, 4, 3)", "Conv2d(1, 4, 3)"))
    assert recipe_hash(recipe(folder)) != before

"""Several trials on a GPU and several GPUs for a trial, on real ones."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sweep.coordinator.plan import Plan
from sweep.fleet.devices import visible_gpus
from sweep.fleet.sharing import fair_limit_bytes, most_on_a_gpu
from sweep.fleet.slots import gpu_slots
from sweep.records import Snapshot, TrialState
from sweep.spec.find import shipped_studies
from sweep.spec.load import load_study_file
from sweep.training.train import TrainConfig
from tests.ranks import train_together
from tests.scripted import run_to_end, stored
from tests.small_images import small_config, write_small_images

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

MEASURED = {"epoch_s", "images_per_s", "peak_memory_bytes"}


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return small_config(write_small_images(tmp_path / "images.npz"), batch_size=16)


def numbers(metrics: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if name not in MEASURED}


def plan_of(folder: Path, num_trials: int, **resources: str) -> Plan:
    """Trials of the quickstart that are all alike in size."""
    overrides = {
        "space": "{lr: {type: float, low: 0.01, high: 0.1}}",
        "enqueue": "[]",
        "search.pruner": "none",
        "training.precision": "auto",
        "budget.trials": str(num_trials),
        **{f"resources.{key}": value for key, value in resources.items()},
    }
    return Plan(
        spec=load_study_file(shipped_studies() / "quickstart.yaml", overrides),
        url=f"sqlite:///{folder}/sweep.db",
        run_folder=folder / "runs",
        slots=(),
        allows_cpu=False,
    )


def ran(plan: Plan) -> Snapshot:
    """What is stored of the plan's study once it has run."""
    assert run_to_end(plan).exit_code == 0
    return stored(plan)


def test_two_ranks_on_a_gpu_agree_on_every_number(config: TrainConfig) -> None:
    (first, state), (second, other) = train_together(config, 2, device="cuda:0", backend="gloo")
    assert [numbers(each) for each in first] == [numbers(each) for each in second]
    assert all(
        torch.equal(other["model"][name], weight)
        for name, weight in state["model"].items()
        if not name.rpartition(".")[2].startswith(("running_", "num_batches"))
    )


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_a_trial_trains_on_two_gpus_over_nccl(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 2, gpus_per_trial="2")
    slots = gpu_slots(visible_gpus()[:2], gpus_per_trial=2)
    snapshot = ran(replace(plan, slots=slots))
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 2
    assert {attempt.num_devices for attempt in snapshot.attempts} == {2.0}
    assert {attempt.device for attempt in snapshot.attempts} == {slots[0].label}
    assert snapshot.epochs[-1].metrics["test_accuracy"] > 0.5


def test_two_trials_share_a_gpu_each_within_its_part_of_the_memory(tmp_path: Path) -> None:
    gpu = visible_gpus()[0]
    slots = tuple(
        replace(slot, memory_limit_bytes=fair_limit_bytes(gpu, 2))
        for slot in gpu_slots([gpu], trials_per_gpu=2)
    )
    snapshot = ran(replace(plan_of(tmp_path, 4, trials_per_gpu="2"), slots=slots))
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 4
    assert {attempt.num_devices for attempt in snapshot.attempts} == {0.5}
    assert {epoch.num_sharing for epoch in snapshot.epochs} <= {1, 2}
    assert 2 in {epoch.num_sharing for epoch in snapshot.epochs}


def test_a_gpu_takes_more_trials_once_the_first_has_shown_what_it_needs(tmp_path: Path) -> None:
    gpu = visible_gpus()[0]
    most = most_on_a_gpu(1)
    slots = gpu_slots([gpu], trials_per_gpu=most)
    snapshot = ran(replace(plan_of(tmp_path, 6, trials_per_gpu="auto"), slots=slots))
    assert snapshot.epochs[0].num_sharing == 1, "the first one runs alone"
    if most > 1:
        assert max(epoch.num_sharing or 0 for epoch in snapshot.epochs) > 1

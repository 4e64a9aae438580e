"""A study on the CPU calculates alike in every worker and in every run of it."""

import json
from pathlib import Path

import pytest

from sweep.coordinator.events import EpochStored
from sweep.coordinator.plan import Plan
from sweep.fleet.slots import cpu_slots
from sweep.spec.load import load_study_file
from sweep.training.probe import fast_bf16_units
from sweep.training.remembered import FILE
from tests.scripted import run_to_end, run_until, stored
from tests.small_images import write_small_images

STUDY = """\
data: {name: npz, path: images.npz}
model: {width: 4}
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.05, 0.02]}}
training: {epochs: 2, batch_size: 32}
"""


def plan_in(folder: Path, precision: str = "auto") -> Plan:
    folder.mkdir(exist_ok=True)
    write_small_images(folder / "images.npz")
    keys = f"epochs: 2, precision: {precision}"
    (folder / "s.yaml").write_text(STUDY.replace("epochs: 2", keys))
    return Plan(
        spec=load_study_file(folder / "s.yaml"),
        url=f"sqlite:///{folder}/out/sweep.db",
        run_folder=folder / "out",
        slots=cpu_slots(1),
    )


def losses(plan: Plan) -> list[float | None]:
    return [epoch.metrics["train_loss"] for epoch in stored(plan).epochs]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SWEEP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / FILE


def plant(cache: Path, precision: str) -> None:
    """The machine remembers this precision for whatever it has measured."""
    known = json.loads(cache.read_text())
    cache.write_text(json.dumps(dict.fromkeys(known, precision)))


def test_a_study_says_which_precision_it_was_begun_with(tmp_path: Path, cache: Path) -> None:
    plan = plan_in(tmp_path / "study")
    run_to_end(plan)
    assert stored(plan).study.versions["cpu_precision"] in ("fp32", "bf16")


@pytest.mark.skipif(not fast_bf16_units(), reason="this CPU has neither AMX nor AVX512-BF16")
def test_a_study_goes_on_with_the_precision_it_was_begun_with(tmp_path: Path, cache: Path) -> None:
    expected = {}
    for precision in ("bf16", "fp32"):
        fixed = plan_in(tmp_path / precision, precision)
        run_to_end(fixed)
        expected[precision] = losses(fixed)
    assert expected["bf16"] != expected["fp32"]
    plant(cache, "bf16")
    plan = plan_in(tmp_path / "study")
    run_until(plan, EpochStored)
    plant(cache, "fp32")
    run_to_end(plan)
    assert stored(plan).study.versions["cpu_precision"] == "bf16"
    assert losses(plan) == expected["bf16"]

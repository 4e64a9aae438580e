"""What a study learns of a device's memory: for which slots, trials and studies it counts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sweep.coordinator.limits import MemoryLimits
from sweep.fleet.devices import Device
from sweep.fleet.slots import Slot, gpu_slots
from sweep.records import TrialState
from sweep.spec.recipe import RecipeSpec
from sweep.store.leadership import Leadership
from sweep.store.store import Store, open_store
from sweep.wire import EpochReport, Failed
from tests.contract.stored import ALICE, new_study
from tests.snapshots import make_spec, make_trial

GIB = 2**30
ONE, OTHER, SMALL = gpu_slots(
    [
        Device(uuid="GPU-1", name="NVIDIA H200", index=0, memory_bytes=141 * GIB),
        Device(uuid="GPU-2", name="NVIDIA H200", index=1, memory_bytes=141 * GIB),
        Device(uuid="GPU-3", name="NVIDIA T4", index=2, memory_bytes=16 * GIB),
    ]
)
SPEC = make_spec({"lr": [0.1], "optimizer": ["sgd", "adam"]})
TRIAL = make_trial(0, {"lr": 0.1, "optimizer": "sgd"}, TrialState.RUNNING)
ADAM = make_trial(1, {"lr": 0.1, "optimizer": "adam"}, TrialState.RUNNING)


@pytest.fixture
def led(tmp_path: Path) -> Iterator[tuple[Store, Leadership]]:
    with open_store(f"sqlite:///{tmp_path}/sweep.db", create=True) as store:
        study = store.create_study(new_study())
        with store.lead(study.id, ALICE, 60) as leadership:
            yield store, leadership


def failed(too_large: int | None) -> Failed:
    return Failed(trial=0, attempt=1, message="", traceback="", too_large=too_large)


def report(micro_batch: int | None, too_large: int | None = None) -> EpochReport:
    return EpochReport(
        trial=0,
        attempt=1,
        epoch=0,
        metrics={},
        finite=True,
        lr=None,
        epoch_s=1.0,
        images_per_s=None,
        peak_memory_bytes=None,
        checkpoint=None,
        micro_batch=micro_batch,
        too_large=too_large,
    )


def limits(led: tuple[Store, Leadership], *slots: Slot) -> MemoryLimits:
    return MemoryLimits(SPEC, slots or (ONE, OTHER, SMALL), *led)


def test_it_counts_on_every_device_of_the_kind(led: tuple[Store, Leadership]) -> None:
    known = limits(led)
    known.note(ONE, TRIAL, failed(256))
    assert known.too_large(OTHER, TRIAL) == 256
    assert known.too_large(SMALL, TRIAL) is None
    assert known.too_large(ONE, ADAM) is None


def test_a_smaller_share_of_a_device_is_another_matter(led: tuple[Store, Leadership]) -> None:
    limits(led).note(ONE, TRIAL, report(128, too_large=256))
    limited = replace(ONE, memory_limit_bytes=2 * GIB)
    assert limits(led, limited).too_large(limited, TRIAL) is None
    twin = replace(ONE, index=1)
    assert limits(led, ONE, twin).too_large(twin, TRIAL) is None
    assert limits(led, ONE, OTHER).too_large(ONE, TRIAL) == 256


def test_what_fits_after_all_is_tried_again(led: tuple[Store, Leadership]) -> None:
    known = limits(led)
    known.note(ONE, TRIAL, failed(256))
    known.note(OTHER, TRIAL, report(256))
    assert known.too_large(ONE, TRIAL) is None


def test_of_a_training_of_the_users_own_nothing_is_kept(led: tuple[Store, Leadership]) -> None:
    spec = replace(SPEC, recipe=RecipeSpec(train="./mine.py:train"))
    own = MemoryLimits(spec, (ONE,), *led)
    own.note(ONE, TRIAL, failed(None))
    own.note(ONE, TRIAL, report(64, too_large=128))
    assert own.too_large(ONE, TRIAL) is None
    assert limits(led).too_large(ONE, TRIAL) is None

"""Places: the slots that resources and flags make of a machine whose GPUs are made up."""

from dataclasses import replace
from pathlib import Path

import pytest

from sweep.cli.places import Places, chosen_slots
from sweep.cli.spec_text import idle_text, plan_text
from sweep.coordinator.plan import Plan
from sweep.errors import DeviceError, StudyFileError, SweepError, UsageError
from sweep.fleet.sharing import fair_limit_bytes, most_on_a_gpu
from sweep.fleet.slots import Slot, num_cores
from sweep.spec.find import shipped_studies
from sweep.spec.load import load_study_file
from sweep.spec.study import StudySpec
from tests import fake_driver
from tests.fake_driver import FakeDriver

UUIDS = tuple(f"GPU-{letter * 4}" for letter in "abcd")
RANGE = "{type: int, low: 1, high: 4}"


@pytest.fixture
def four_gpus(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return fake_driver.install(monkeypatch, FakeDriver(uuids=UUIDS))


@pytest.fixture
def no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    fault = fake_driver.NVMLError_LibraryNotFound()
    fake_driver.install(monkeypatch, FakeDriver(uuids=(), fault=fault))


def spec_of(**overrides: str) -> StudySpec:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return load_study_file(shipped_studies() / "learning_rate.yaml", dotted)


def slots_of(
    spec: StudySpec,
    gpus: str | None = None,
    cpu: int | None = None,
    memory_limit: int | None = None,
    *,
    is_sharing_asked: bool = False,
) -> tuple[Slot, ...]:
    places = Places(
        gpus=gpus,
        cpu=cpu,
        memory_limit=memory_limit,
        shares_busy=False,
        storage=None,
        run_dir=None,
    )
    return chosen_slots(places, spec, is_sharing_asked=is_sharing_asked).slots


def shape(slots: tuple[Slot, ...]) -> list[int]:
    """How many devices each slot has."""
    return [len(slot.devices) for slot in slots]


def test_gpus_are_put_together_where_every_trial_has_several(four_gpus: FakeDriver) -> None:
    slots = slots_of(spec_of(resources__gpus_per_trial="2"))
    assert [slot.short_name for slot in slots] == ["gpu 0+1", "gpu 2+3"]


def test_a_gpu_that_is_left_over_is_named(four_gpus: FakeDriver) -> None:
    spec = spec_of(resources__gpus_per_trial="3")
    places = Places(
        gpus=None, cpu=None, memory_limit=None, shares_busy=False, storage=None, run_dir=None
    )
    chosen = chosen_slots(places, spec)
    assert shape(chosen.slots) == [3]
    plan = Plan(spec=spec, url="", run_folder=Path(), slots=chosen.slots, idle=chosen.idle)
    assert idle_text(plan) == "gpu 3 stays idle: a trial has 3 GPUs"
    assert idle_text(replace(plan, idle=())) == ""
    text = plan_text(plan, None)
    assert "1 on gpu 0 (H200), gpu 1 (H200), gpu 2 (H200), each with 3 processes of" in text
    assert "3 GPUs for a trial" in text


def test_gpus_stay_single_where_their_number_is_searched(four_gpus: FakeDriver) -> None:
    slots = slots_of(spec_of(space__gpus_per_trial=RANGE))
    assert shape(slots) == [1, 1, 1, 1]


def test_slots_that_share_a_gpu_have_a_fair_share_of_its_memory(four_gpus: FakeDriver) -> None:
    slots = slots_of(spec_of(resources__trials_per_gpu="3"), gpus="0,1")
    assert [slot.short_name for slot in slots] == ["gpu 0", "gpu 1"] * 3
    assert {slot.memory_limit_bytes for slot in slots} == {fair_limit_bytes(slots[0].device, 3)}
    limited = slots_of(spec_of(resources__trials_per_gpu="3"), memory_limit=2**31)
    assert {slot.memory_limit_bytes for slot in limited} == {2**31}


def test_auto_has_slots_for_as_many_as_there_could_be_and_no_limit(four_gpus: FakeDriver) -> None:
    slots = slots_of(spec_of(resources__trials_per_gpu="auto"), gpus="0")
    assert len(slots) == most_on_a_gpu(1)
    assert {slot.memory_limit_bytes for slot in slots} == {None}


def test_on_the_cpu_a_process_stands_for_a_gpu(four_gpus: FakeDriver) -> None:
    spec = spec_of(resources__gpus_per_trial="2")
    slots = slots_of(spec, cpu=4)
    assert shape(slots) == [2, 2]
    assert {slot.num_threads for slot in slots} == {max(1, num_cores() // 4)}
    assert shape(slots_of(spec_of(space__gpus_per_trial=RANGE), cpu=5)) == [1] * 5


def test_without_a_gpu_there_are_processes_for_the_largest_trial(no_gpus: None) -> None:
    assert shape(slots_of(spec_of(resources__gpus_per_trial="3"))) == [3]
    assert len(slots_of(spec_of(space__gpus_per_trial=RANGE))) == 4


def test_trials_per_gpu_in_a_file_does_not_matter_on_the_cpu(no_gpus: None) -> None:
    assert shape(slots_of(spec_of(resources__trials_per_gpu="2"), cpu=2)) == [1, 1]


@pytest.mark.parametrize(
    ("overrides", "options", "kind", "message"),
    [
        (
            {"space__gpus_per_trial": RANGE},
            {"gpus": "0,1"},
            DeviceError,
            "a trial is to have 4 GPUs, and there are 2 to run on; choose more with --gpus",
        ),
        (
            {"resources__gpus_per_trial": "3"},
            {"cpu": 2},
            UsageError,
            "--cpu 2 is too little: a trial is to have 3 GPUs, and on the CPU a process stands "
            "for each; write --cpu 3 or more",
        ),
        (
            {"resources__trials_per_gpu": "2"},
            {"cpu": 2, "is_sharing_asked": True},
            UsageError,
            "--trials-per-gpu is for GPUs, and this runs on the CPU; --cpu N says how many",
        ),
    ],
)
def test_what_the_machine_cannot_give_is_refused(
    four_gpus: FakeDriver,
    overrides: dict[str, str],
    options: dict[str, object],
    kind: type[SweepError],
    message: str,
) -> None:
    with pytest.raises(kind) as refusal:
        slots_of(spec_of(**overrides), **options)  # type: ignore[arg-type]
    assert str(refusal.value).startswith(message)


LR = "space.lr"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("resources: {gpus_per_trial: 0}", "gpus_per_trial is 0; it takes a whole number from 1"),
        ("resources: {trials_per_gpu: some}", "it takes auto or a whole number from 1 to 64"),
        ("resources: {trials_per_gpu: '2'}", "from 1 to 64: write it without quotes"),
        (
            "resources: {gpus_per_trial: 2, trials_per_gpu: auto}",
            "resources.trials_per_gpu does not go with 2 GPUs for a trial; remove one of the two",
        ),
        ("resources: {gpus_per_trail: 2}", "did you mean gpus_per_trial?"),
        ("gpus_per_trial: 2", "did you mean resources.gpus_per_trial?"),
    ],
)
def test_resources_that_make_no_sense_are_refused_with_their_line(
    tmp_path: Path, lines: str, message: str
) -> None:
    path = tmp_path / "study.yaml"
    shipped = (shipped_studies() / "learning_rate.yaml").read_text()
    path.write_text(f"{shipped}{lines}\n")
    with pytest.raises(StudyFileError) as refusal:
        load_study_file(path)
    (problem,) = refusal.value.problems
    assert problem.line == len(shipped.splitlines()) + 1
    assert message in problem.message


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"space__gpus_per_trial": "{choices: [1, 2.5]}"}, "it takes a whole number from 1 to 64"),
        (
            {"space__gpus_per_trial": RANGE, "resources__gpus_per_trial": "2"},
            "resources.gpus_per_trial is also in the space; remove one of the two",
        ),
        (
            {"space__gpus_per_trial": RANGE, "resources__trials_per_gpu": "2"},
            "resources.trials_per_gpu does not go with 4 GPUs for a trial",
        ),
    ],
)
def test_a_searched_number_of_gpus_is_checked_against_the_rest(
    overrides: dict[str, str], message: str
) -> None:
    with pytest.raises(StudyFileError, match=message):
        spec_of(**overrides)


def test_the_number_of_gpus_comes_back_with_a_stored_spec() -> None:
    for overrides in ({"resources__trials_per_gpu": "auto"}, {"resources__gpus_per_trial": "2"}):
        spec = spec_of(**overrides)
        assert StudySpec.from_json(spec.to_json()) == spec
    old = spec_of().to_json()
    del old["resources"]
    assert StudySpec.from_json(old).num_gpus({}) == 1

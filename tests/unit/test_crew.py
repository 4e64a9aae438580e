"""The crew: slots that are gathered for a trial on several devices, and slots that open later."""

from dataclasses import dataclass, field

import pytest

from sweep.coordinator.busy import Busy, note_sharing, num_sharing_now
from sweep.coordinator.crew import Crew
from sweep.coordinator.packing import Packing
from sweep.fleet.devices import Device
from sweep.fleet.slots import Slot, cpu_slots, gpu_slots, num_cores

GIB = 2**30
GPUS = tuple(
    Device(uuid=f"GPU-{index}", name="H200", index=index, memory_bytes=128 * GIB)
    for index in range(4)
)


@dataclass
class Fleet:
    """Writes down which workers are started and killed."""

    slots: tuple[Slot, ...]
    started: list[int] = field(default_factory=list)
    killed: list[int] = field(default_factory=list)

    def start(self, slot: Slot) -> None:
        self.started.append(slot.index)

    def kill(self, slot: Slot) -> None:
        self.killed.append(slot.index)


def crew_of(slots: tuple[Slot, ...], *, is_auto: bool = False) -> tuple[Crew, Fleet]:
    """A crew that has started, each of whose workers is ready."""
    fleet = Fleet(slots=slots)
    packing = Packing(slots=slots, is_auto=is_auto, free_bytes=lambda uuid: 128 * GIB)
    crew = Crew(fleet, packing)
    crew.start_all()
    for index in list(fleet.started):
        crew.ready(slots[index])
    return crew, fleet


def free(crew: Crew) -> list[int]:
    """The free slots, which stay free."""
    taken = list(crew.take())
    for slot in taken:
        crew.give_back(slot)
    return [slot.index for slot in taken]


def size(crew: Crew, slot: Slot) -> tuple[float, int]:
    """How many devices a trial has there, and how many such trials have room."""
    place = crew.place_of(slot, pid=1, log="log")
    return place.num_devices, place.num_slots


def take(crew: Crew, count: int) -> Slot | None:
    """The first free slot with so many devices; given back where there are too few."""
    slot = next(crew.take())
    place = crew.gather(slot, count)
    if place is None:
        crew.give_back(slot)
    return place


def test_a_trial_on_one_device_takes_one_slot_as_it_is() -> None:
    slots = gpu_slots(GPUS)
    crew, _ = crew_of(slots)
    assert take(crew, 1) == slots[0]
    assert free(crew) == [1, 2, 3]


def test_a_trial_on_several_devices_takes_other_free_slots_until_it_ends() -> None:
    crew, _ = crew_of(gpu_slots(GPUS))
    place = take(crew, 3)
    assert place is not None
    assert place.devices == GPUS[:3]
    assert (place.index, *size(crew, place)) == (0, 3.0, 1)
    assert free(crew) == [3]
    crew.give_back(place)
    assert free(crew) == [0, 1, 2, 3]


def test_too_few_free_devices_change_nothing() -> None:
    crew, _ = crew_of(gpu_slots(GPUS))
    first = take(crew, 2)
    assert first is not None
    assert take(crew, 3) is None
    assert free(crew) == [2, 3]
    crew.give_back(first)
    assert take(crew, 3) is not None


def test_a_worker_that_is_lent_and_starts_anew_is_not_free_before_its_loan_ends() -> None:
    slots = gpu_slots(GPUS)
    crew, _ = crew_of(slots)
    place = take(crew, 2)
    assert place is not None
    crew.ended(slots[1], "killed by signal 9", "")
    crew.ready(slots[1])
    assert free(crew) == [2, 3]
    crew.give_back(place)
    assert free(crew) == [0, 1, 2, 3]


def test_a_lent_worker_that_is_gone_is_free_only_when_it_is_ready_again() -> None:
    slots = gpu_slots(GPUS)
    crew, _ = crew_of(slots)
    place = take(crew, 2)
    assert place is not None
    crew.ended(slots[1], "killed by signal 9", "")
    crew.give_back(place)
    assert free(crew) == [0, 2, 3]
    crew.ready(slots[1])
    assert free(crew) == [0, 1, 2, 3]


def test_the_end_of_a_worker_ends_what_was_lent_to_it() -> None:
    slots = gpu_slots(GPUS)
    crew, fleet = crew_of(slots)
    assert take(crew, 3) is not None
    crew.ended(slots[0], "killed by signal 9", "")
    assert free(crew) == [1, 2, 3]
    crew.restart_due()
    assert fleet.started == [0, 1, 2, 3, 0]


def test_a_retired_device_is_not_counted_on() -> None:
    slots = gpu_slots(GPUS)
    crew, _ = crew_of(slots)
    assert len(crew.devices) == 4
    assert crew.retire(slots[0])
    assert len(crew.devices) == 3


def test_slots_of_several_devices_need_no_gathering() -> None:
    slots = gpu_slots(GPUS, gpus_per_trial=2)
    crew, _ = crew_of(slots)
    assert take(crew, 2) == slots[0]
    fewer = crew.gather(slots[1], 1)
    assert fewer is not None
    assert fewer.devices == GPUS[2:3], "a trial of an earlier space asked for one"
    assert size(crew, fewer) == (1.0, 2)
    assert size(crew, slots[0]) == (2.0, 2)
    assert len(crew.devices) == 4


def test_more_workers_start_once_a_first_trial_has_shown_what_it_takes() -> None:
    slots = gpu_slots(GPUS[:2], trials_per_gpu=3)
    crew, fleet = crew_of(slots, is_auto=True)
    assert fleet.started == [0, 1]
    assert size(crew, slots[0]) == (1.0, 2)
    crew.progressed(slots[0], 10 * GIB)
    assert fleet.started == [0, 1, 2, 4]
    assert size(crew, slots[0]) == (pytest.approx(1 / 3), 4)
    crew.progressed(slots[0], 11 * GIB)
    assert fleet.started == [0, 1, 2, 4], "each of them once"


def test_workers_that_no_longer_fit_go_when_they_are_free_and_stay_away() -> None:
    slots = gpu_slots(GPUS[:1], trials_per_gpu=3)
    crew, fleet = crew_of(slots, is_auto=True)
    crew.progressed(slots[0], 10 * GIB)
    for slot in slots[1:]:
        crew.ready(slot)
    busy = [take(crew, 1), take(crew, 1)]
    assert [slot.index for slot in busy if slot] == [0, 1]
    crew.progressed(slots[0], 100 * GIB)
    assert fleet.killed == [2], "the free one at once"
    crew.give_back(slots[1])
    assert fleet.killed == [2, 1], "the busy one after its trial"
    for slot in (slots[2], slots[1]):
        assert crew.ended(slot, "killed by signal 9", "") is None
    crew.restart_due()
    crew.progressed(slots[0], 100 * GIB)
    assert fleet.started == [0, 1, 2]
    assert free(crew) == []


def busy_on(slot: Slot) -> Busy:
    return Busy(slot=slot, trial=None, kept=None)  # type: ignore[arg-type]


def test_trials_on_one_gpu_count_each_other_up_to_their_next_epoch() -> None:
    slots = gpu_slots(GPUS[:2], trials_per_gpu=2)
    at_work = [busy_on(slots[0]), busy_on(slots[2]), busy_on(slots[1])]
    note_sharing(at_work)
    assert [each.num_sharing for each in at_work] == [2, 2, 1]
    note_sharing(at_work[:1])
    assert at_work[0].num_sharing == 2, "the most at a time"
    assert num_sharing_now(slots[0], at_work[:1]) == 1


def test_slots_on_the_cpu_share_nothing_until_there_are_more_of_them_than_cores() -> None:
    for per_core in (1, 3):
        at_work = [busy_on(slot) for slot in cpu_slots(per_core * num_cores())]
        note_sharing(at_work)
        assert {each.num_sharing for each in at_work} == {per_core}

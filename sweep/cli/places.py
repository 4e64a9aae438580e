"""Places: which slots the flags of `sweep run` and a study's resources make of the machine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sweep.errors import DeviceError, UsageError
from sweep.fleet.choice import select_gpus
from sweep.fleet.devices import Device, visible_gpus
from sweep.fleet.sharing import fair_limit_bytes, most_on_a_gpu
from sweep.fleet.slots import Slot, cpu_slots, default_cpu_count, gpu_slots
from sweep.spec.resources import AUTO
from sweep.spec.study import StudySpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Where to run and where to store; None where a flag was not given.

    `memory_limit` is in bytes.
    """

    gpus: str | None
    cpu: int | None
    memory_limit: int | None
    shares_busy: bool
    storage: str | None
    run_dir: str | None
    share: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenSlots:
    """The slots of a run, and the chosen devices that are too few for another one."""

    slots: tuple[Slot, ...]
    idle: tuple[Device, ...] = ()


def chosen_slots(
    places: Places, spec: StudySpec, *, is_sharing_asked: bool = False
) -> ChosenSlots:
    """The slots that the flags name; without one every visible GPU, or else some on the CPU.

    Where every trial has the same number of GPUs, a slot has so many; where the number is
    searched, it has one, and trials gather what they need. `is_sharing_asked`: a flag asks for
    several trials on a GPU. Raises UsageError, and DeviceError where there are too few devices.
    """
    if places.gpus is not None and places.cpu is not None:
        raise UsageError("--gpus and --cpu are both given; give one of them")
    gpus = _gpus(places)
    if gpus:
        slots = _gpu_slots(gpus, places, spec)
        used = {device for slot in slots for device in slot.devices}
        return ChosenSlots(slots=slots, idle=tuple(gpu for gpu in gpus if gpu not in used))
    if is_sharing_asked:
        raise UsageError(
            "--trials-per-gpu is for GPUs, and this runs on the CPU; --cpu N says how many trials "
            "run at a time there"
        )
    return ChosenSlots(slots=limited(_cpu_slots(places.cpu, spec), places.memory_limit))


def _gpus(places: Places) -> tuple[Device, ...]:
    if places.cpu is not None:
        return ()
    visible = visible_gpus()
    return visible if places.gpus is None else select_gpus(places.gpus, visible)


def _gpu_slots(gpus: Sequence[Device], places: Places, spec: StudySpec) -> tuple[Slot, ...]:
    if spec.most_gpus > len(gpus):
        raise DeviceError(
            f"a trial is to have {spec.most_gpus} GPUs, and there are {len(gpus)} to run on; "
            "choose more with --gpus, or give a trial fewer"
        )
    asked = spec.resources.trials_per_gpu
    per_gpu = most_on_a_gpu(len(gpus)) if asked == AUTO else asked
    slots = gpu_slots(gpus, trials_per_gpu=per_gpu, gpus_per_trial=_per_slot(spec))
    if places.memory_limit is None and asked not in (AUTO, 1):
        return tuple(
            replace(slot, memory_limit_bytes=fair_limit_bytes(slot.device, per_gpu))
            for slot in slots
        )
    return limited(slots, places.memory_limit)


def _cpu_slots(count: int | None, spec: StudySpec) -> tuple[Slot, ...]:
    """Each process on the CPU takes the place of a GPU."""
    if count is not None and count < spec.most_gpus:
        raise UsageError(
            f"--cpu {count} is too little: a trial is to have {spec.most_gpus} GPUs, and on the "
            f"CPU a process stands for each; write --cpu {spec.most_gpus} or more"
        )
    count = count or max(default_cpu_count(), spec.most_gpus)
    return cpu_slots(count, gpus_per_trial=_per_slot(spec))


def _per_slot(spec: StudySpec) -> int:
    return 1 if spec.searches_gpus else spec.resources.gpus_per_trial


def limited(slots: tuple[Slot, ...], memory_limit: int | None) -> tuple[Slot, ...]:
    """The slots with a limit of memory for each, in bytes. Raises UsageError for the CPU's."""
    if memory_limit is None:
        return slots
    if not all(slot.device.uuid for slot in slots):
        raise UsageError(
            "--memory-limit is for GPUs, and this runs on the CPU; leave it out, or choose --gpus"
        )
    return tuple(replace(slot, memory_limit_bytes=memory_limit) for slot in slots)

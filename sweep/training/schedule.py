"""Schedule: the learning rate of every step as a pure function; it holds no optimizer."""

from dataclasses import dataclass
from math import cos, pi

ONE_CYCLE_RISE = 0.3
ONE_CYCLE_START_DIVISOR = 25.0
ONE_CYCLE_END_DIVISOR = 1e4


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """How the learning rate goes over a whole training.

    `lr` is its highest value. `kind` is constant, multistep, cosine or one_cycle. Multistep
    multiplies by `gamma` at the start of each of the epochs in `milestones`.
    """

    kind: str
    lr: float
    epochs: int
    steps_per_epoch: int
    warmup_epochs: int = 0
    milestones: tuple[int, ...] = ()
    gamma: float = 0.1

    @property
    def num_steps(self) -> int:
        return self.epochs * self.steps_per_epoch

    @property
    def num_warmup_steps(self) -> int:
        return min(self.warmup_epochs, self.epochs) * self.steps_per_epoch


def lr_at(schedule: Schedule, step: int) -> float:
    """The learning rate of optimizer step `step`, counted from 0 over all epochs."""
    # 1) one cycle brings its own warm-up: up by half a cosine, then down to almost nothing
    if schedule.kind == "one_cycle":
        return _one_cycle(schedule, step)
    # 2) warm-up: in equal steps from almost nothing to lr, which its last step reaches
    if step < schedule.num_warmup_steps:
        return schedule.lr * (step + 1) / schedule.num_warmup_steps
    # 3) cosine: from lr to 0 over the steps that are left, which is what torch calls T_max
    if schedule.kind == "cosine":
        left = schedule.num_steps - schedule.num_warmup_steps
        return schedule.lr * _half_cosine((step - schedule.num_warmup_steps) / left)
    # 4) multistep: by whole epochs
    if schedule.kind == "multistep":
        epoch = step // schedule.steps_per_epoch
        return schedule.lr * schedule.gamma ** sum(epoch >= at for at in schedule.milestones)
    # 5) constant
    return schedule.lr


def _half_cosine(progress: float) -> float:
    """1 at progress 0, 0 at progress 1, flat at both ends."""
    return (1 + cos(pi * progress)) / 2


def _one_cycle(schedule: Schedule, step: int) -> float:
    """Smith and Topin, "Super-Convergence", 2018, in the form of torch's OneCycleLR.

    The rise takes the warm-up's epochs, or three tenths of all steps where there are none.
    """
    start = schedule.lr / ONE_CYCLE_START_DIVISOR
    end = start / ONE_CYCLE_END_DIVISOR
    rise = schedule.num_warmup_steps or ONE_CYCLE_RISE * schedule.num_steps
    top, last = max(rise - 1, 0), schedule.num_steps - 1
    if step <= top:
        return _between(schedule.lr, start, step / top if top else 1.0)
    return _between(end, schedule.lr, (step - top) / (last - top))


def _between(high: float, low: float, progress: float) -> float:
    """From `low` at progress 0 to `high` at progress 1 by half a cosine."""
    return high + (low - high) * _half_cosine(progress)

"""The learning rate over all steps, against torch's own schedulers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    OneCycleLR,
)

from sweep.training.schedule import Schedule, lr_at

EPOCHS, STEPS = 10, 7


def schedule(kind: str, **more: object) -> Schedule:
    return Schedule(kind=kind, lr=0.4, epochs=EPOCHS, steps_per_epoch=STEPS, **more)


def lrs(plan: Schedule) -> list[float]:
    return [lr_at(plan, step) for step in range(plan.num_steps)]


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.4)


def torch_lrs(scheduler: LRScheduler, num_steps: int, steps_between: int = 1) -> list[float]:
    found = []
    for step in range(num_steps):
        found.append(scheduler.optimizer.param_groups[0]["lr"])
        scheduler.optimizer.step()
        if (step + 1) % steps_between == 0:
            scheduler.step()
    return found


def test_a_constant_lr_stays() -> None:
    assert set(lrs(schedule("constant"))) == {0.4}


def test_multistep_changes_at_the_start_of_its_milestones_as_torch_does() -> None:
    ours = lrs(schedule("multistep", milestones=(3, 8), gamma=0.2))
    theirs = torch_lrs(MultiStepLR(optimizer(), [3, 8], gamma=0.2), EPOCHS * STEPS, STEPS)
    assert ours == pytest.approx(theirs)


def test_cosine_falls_to_nothing_as_in_torch() -> None:
    theirs = torch_lrs(CosineAnnealingLR(optimizer(), T_max=EPOCHS * STEPS), EPOCHS * STEPS)
    assert lrs(schedule("cosine")) == pytest.approx(theirs)


def test_cosine_after_a_warm_up_falls_over_the_steps_that_are_left() -> None:
    left = (EPOCHS - 2) * STEPS
    theirs = torch_lrs(CosineAnnealingLR(optimizer(), T_max=left), left)
    assert lrs(schedule("cosine", warmup_epochs=2))[2 * STEPS :] == pytest.approx(theirs)


@pytest.mark.parametrize("kind", ["constant", "multistep", "cosine"])
def test_a_warm_up_rises_in_equal_steps_as_torch_does(kind: str) -> None:
    warm = 2 * STEPS
    theirs = torch_lrs(
        LinearLR(optimizer(), start_factor=1 / warm, total_iters=warm - 1), warm - 1
    )
    ours = lrs(schedule(kind, warmup_epochs=2, milestones=(8,)))[: warm - 1]
    assert ours == pytest.approx(theirs)


@pytest.mark.parametrize(("warmup_epochs", "rise"), [(0, 0.3), (3, 0.3), (5, 0.5)])
def test_one_cycle_is_torchs(warmup_epochs: int, rise: float) -> None:
    total = EPOCHS * STEPS
    theirs = OneCycleLR(optimizer(), max_lr=0.4, total_steps=total, pct_start=rise)
    ours = lrs(schedule("one_cycle", warmup_epochs=warmup_epochs))
    assert ours == pytest.approx(torch_lrs(theirs, total))


@given(
    kind=st.sampled_from(["constant", "multistep", "cosine", "one_cycle"]),
    epochs=st.integers(1, 5),
    steps=st.integers(1, 4),
    warmup_epochs=st.integers(0, 7),
    milestones=st.lists(st.integers(1, 6), max_size=2),
)
def test_every_lr_is_at_most_the_highest_and_never_negative(
    kind: str, epochs: int, steps: int, warmup_epochs: int, milestones: list[int]
) -> None:
    plan = Schedule(
        kind=kind,
        lr=0.4,
        epochs=epochs,
        steps_per_epoch=steps,
        warmup_epochs=warmup_epochs,
        milestones=tuple(milestones),
    )
    assert all(0 <= lr <= 0.4 * (1 + 1e-12) for lr in lrs(plan))

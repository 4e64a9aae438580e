"""Row: what one trial took and reached, measured from its attempts and effective epochs.

Plain values without pandas, so that `status` and `best` start quickly. The definitions of the
numbers are those of columns.py.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from sweep.records import Attempt, Epoch, Outline, ParamValue, Snapshot, Trial, TrialState
from sweep.views.plan import Plan, Price, plan_of

BYTES_PER_MIB = 2**20
NO_EPOCHS: tuple[Epoch, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialRow:
    """One trial as a flat row; a field is None where there is nothing to tell.

    The fields have the names and meanings of the columns of the table of trials.
    """

    study: str
    trial: Trial
    test_accuracy: float | None
    best_test_accuracy: float | None
    best_epoch: int | None
    val_accuracy: float | None
    epochs: int
    epoch_s: float | None
    duration_s: float | None
    images_per_s: float | None
    peak_memory_mib: float | None
    cost: float | None
    device: str | None
    attempts: int
    baseline_memory_mib: float | None
    micro_batch: int | None
    num_sharing: int | None
    num_devices: float | None

    @property
    def number(self) -> int:
        return self.trial.number

    @property
    def state(self) -> TrialState:
        return self.trial.state

    @property
    def value(self) -> float | None:
        return self.trial.value

    @property
    def is_complete(self) -> bool:
        """Whether it is complete with a value and counts: only such a trial can be the best."""
        return is_ranked(self.trial)

    def param(self, name: str) -> ParamValue | None:
        """The param's value; None where the param is not active."""
        return self.trial.params.get(name)


def trial_rows(snapshot: Snapshot) -> list[TrialRow]:
    """A row for each trial, by number."""
    plan = plan_of(snapshot)
    epochs = epochs_by_trial(snapshot)
    attempts = attempts_by_trial(snapshot)
    return [
        row_of(snapshot, trial, attempts.get(trial.number, []), epochs.get(trial.number, []), plan)
        for trial in snapshot.trials
    ]


def is_ranked(trial: Trial) -> bool:
    """Whether a trial is complete with a finite value and counts: only such a one can be best."""
    has_value = trial.state is TrialState.COMPLETE and finite(trial.value) is not None
    return has_value and not trial.excluded


def compared(rows: Iterable[TrialRow]) -> list[TrialRow]:
    """The rows that count in comparisons: all but those of excluded trials."""
    return [row for row in rows if not row.trial.excluded]


def epochs_by_trial(snapshot: Snapshot | Outline) -> dict[int, list[Epoch]]:
    """The effective epochs of each trial that has any, in order."""
    grouped: defaultdict[int, list[Epoch]] = defaultdict(list)
    for epoch in snapshot.epochs:
        grouped[epoch.trial].append(epoch)
    return dict(grouped)


def attempts_by_trial(snapshot: Snapshot | Outline) -> dict[int, list[Attempt]]:
    """The attempts of each trial that has any, in order."""
    grouped: defaultdict[int, list[Attempt]] = defaultdict(list)
    for attempt in snapshot.attempts:
        grouped[attempt.trial].append(attempt)
    return dict(grouped)


def row_of(
    snapshot: Snapshot | Outline,
    trial: Trial,
    attempts: Sequence[Attempt],
    epochs: Sequence[Epoch],
    plan: Plan,
) -> TrialRow:
    """The row of one trial of the study, from its attempts and effective epochs."""
    last = last_epoch(epochs)
    best = _best_epoch(epochs, snapshot)
    seconds = [attempt_seconds(attempt, epochs) for attempt in attempts]
    return TrialRow(
        study=snapshot.study.name,
        trial=trial,
        test_accuracy=_metric(last, "test_accuracy"),
        best_test_accuracy=_metric(best, "test_accuracy"),
        best_epoch=None if best is None else best.epoch,
        val_accuracy=_metric(last, "val_accuracy"),
        epochs=len(epochs),
        epoch_s=_over(epochs, lambda epoch: epoch.epoch_s, median),
        duration_s=round(sum(seconds), 3) if attempts else None,
        images_per_s=_over(epochs, lambda epoch: epoch.images_per_s, median),
        peak_memory_mib=_over(epochs, peak_memory_mib, max),
        cost=cost_of(attempts, seconds, plan.price),
        device=attempts[-1].device if attempts else None,
        attempts=len(attempts),
        baseline_memory_mib=_over(epochs, baseline_memory_mib, max),
        micro_batch=_fewest_at_once(epochs),
        num_sharing=_most_sharing(epochs),
        num_devices=attempts[-1].num_devices if attempts else None,
    )


def last_epoch(epochs: Sequence[Epoch]) -> Epoch | None:
    """The last epoch of the latest attempt that reached any.

    An attempt that started over may end before the epochs that an earlier one reached.
    """
    return max(epochs, key=lambda epoch: (epoch.attempt, epoch.epoch), default=None)


def _best_epoch(epochs: Sequence[Epoch], snapshot: Snapshot | Outline) -> Epoch | None:
    best = _first_best(epochs, "test_accuracy", sign=1)
    if best is not None:
        return best
    sign = 1 if snapshot.study.direction.is_better(1, 0) else -1
    return _first_best(epochs, snapshot.study.metric, sign)


def _first_best(epochs: Sequence[Epoch], metric: str, sign: int) -> Epoch | None:
    best, best_value = None, -math.inf
    for epoch in epochs:
        value = finite(epoch.metrics.get(metric))
        if value is not None and sign * value > best_value:
            best, best_value = epoch, sign * value
    return best


def _metric(epoch: Epoch | None, metric: str) -> float | None:
    return None if epoch is None else finite(epoch.metrics.get(metric))


def finite(value: float | None) -> float | None:
    """The number, or None for one that is not finite."""
    return value if value is not None and math.isfinite(value) else None


def peak_memory_mib(epoch: Epoch) -> float | None:
    """The epoch's highest memory in MiB; None where it is unknown."""
    return None if epoch.peak_memory_bytes is None else epoch.peak_memory_bytes / BYTES_PER_MIB


def baseline_memory_mib(epoch: Epoch) -> float | None:
    """The memory in use before the epoch's attempt in MiB; None where it is unknown."""
    held = epoch.baseline_memory_bytes
    return None if held is None else held / BYTES_PER_MIB


def _fewest_at_once(epochs: Iterable[Epoch]) -> int | None:
    sizes = (epoch.micro_batch for epoch in epochs if epoch.micro_batch is not None)
    return min(sizes, default=None)


def _most_sharing(epochs: Iterable[Epoch]) -> int | None:
    numbers = (epoch.num_sharing for epoch in epochs if epoch.num_sharing is not None)
    return max(numbers, default=None)


def _over(
    epochs: Iterable[Epoch],
    number: Callable[[Epoch], float | None],
    aggregate: Callable[[list[float]], float],
) -> float | None:
    numbers = [value for epoch in epochs if (value := finite(number(epoch))) is not None]
    return aggregate(numbers) if numbers else None


def attempt_seconds(attempt: Attempt, epochs: Iterable[Epoch]) -> float:
    """How long an attempt took; one that still runs counts to its last stored epoch."""
    return max((attempt_end(attempt, epochs) - attempt.started_at).total_seconds(), 0.0)


def attempt_end(attempt: Attempt, epochs: Iterable[Epoch]) -> datetime:
    """When the attempt ended, or when its last epoch was stored, or else its start."""
    if attempt.finished_at is not None:
        return attempt.finished_at
    own = (epoch.stored_at for epoch in epochs if epoch.attempt == attempt.attempt)
    return max(own, default=attempt.started_at)


def cost_of(attempts: Sequence[Attempt], seconds: Sequence[float], price: Price) -> float | None:
    """What the attempts cost together; None without a price."""
    costs = [price.of(attempt, s) for attempt, s in zip(attempts, seconds, strict=True)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None

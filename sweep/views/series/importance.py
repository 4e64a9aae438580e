"""Importance: how much each param decides whether a trial is among the best ones.

PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023, arXiv:2304.10255), as Optuna has it: the
density of a param among the best tenth of the complete trials against that among all of them,
by their Pearson divergence, sum over x of all(x) * (top(x) / all(x) - 1)**2. A param that is not
active in every trial is looked at among those that have it, and weighs by their share.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.records import Direction, ParamValue
from sweep.views.best import ranked
from sweep.views.comparison import num_values
from sweep.views.display import one_line
from sweep.views.rows import TrialRow
from sweep.views.series.axis import Axis, even_axis, scale_axis
from sweep.views.series.parts import Nothing
from sweep.views.series.subject import Subject

MIN_TRIALS = 10
TOP = 0.1
_MIN_TOP = 2
_CELLS = 50
_LEAST = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportanceSeries:
    """The importance of each param that differs, the greatest first; together they are 1.

    `num_top` of `num_trials` complete trials are the best ones that were looked at.
    """

    metric: str
    importances: tuple[tuple[str, float], ...]
    num_top: int
    num_trials: int


def importance_series(subject: Subject) -> ImportanceSeries | Nothing:
    """Which params matter for reaching the best tenth."""
    complete = ranked(subject.rows, subject.snapshot.study.direction)
    if len(complete) < MIN_TRIALS:
        return Nothing(reason=f"it takes {MIN_TRIALS} complete trials; there are {len(complete)}")
    raw = {
        name: value
        for name in subject.params
        if (value := _importance(subject, name, complete)) is not None
    }
    if not raw:
        return Nothing(reason="all complete trials have the same params")
    total = sum(raw.values())
    if not total:
        return Nothing(reason=_why_none(subject, complete))
    shares = {name: value / total for name, value in raw.items()}
    return ImportanceSeries(
        metric=subject.metric,
        importances=tuple(sorted(shares.items(), key=lambda pair: -pair[1])),
        num_top=len(top_of(complete, subject.snapshot.study.direction)),
        num_trials=len(complete),
    )


def _why_none(subject: Subject, complete: Sequence[TrialRow]) -> str:
    if len({row.value for row in complete}) == 1:
        return f"all complete trials have the same {one_line(subject.metric)}"
    return "the params of the best trials are spread as those of all"


def top_of(complete: Sequence[TrialRow], direction: Direction) -> Sequence[TrialRow]:
    """The best tenth of sorted trials, at least two, and all that equal the last of them."""
    count = max(math.ceil(TOP * len(complete)), _MIN_TOP)
    if count >= len(complete):
        return complete
    last = complete[count - 1].value
    assert last is not None
    better = [
        r for r in complete if r.value is not None and not direction.is_better(last, r.value)
    ]
    return complete[: len(better)]


def _importance(subject: Subject, name: str, complete: Sequence[TrialRow]) -> float | None:
    """Before all are made to add up to 1; None for a param that does not differ."""
    active = [row for row in complete if row.param(name) is not None]
    if num_values([row.trial for row in active], name) < 2:
        return None
    top = top_of(active, subject.snapshot.study.direction)
    values = [row.param(name) for row in active]
    axis = _axis(subject, name, values)
    among_all = _density(axis, values)
    among_top = _density(axis, [row.param(name) for row in top])
    divergence = float(among_all @ (among_top / among_all - 1) ** 2)
    return divergence * len(active) / len(complete)


def _axis(subject: Subject, name: str, values: Sequence[ParamValue | None]) -> Axis:
    """Values of a list are labels, also numbers; those of a range lie on its scale."""
    if name in subject.ranged:
        return scale_axis(name, values, is_log=subject.is_log(name))
    return even_axis(name, values)


def _density(axis: Axis, values: Sequence[ParamValue | None]) -> Floats:
    if axis.is_even:
        places = [place for value in values if (place := axis.place(value)) is not None]
        return of_labels([int(place) for place in places], len(axis.labels))
    shares = [share for value in values if (share := axis.share(value)) is not None]
    return of_numbers(np.array(shares))


def of_labels(places: Sequence[int], num_labels: int) -> Floats:
    """How likely each label is; one uniform observation is added as a prior, so that none is 0.

    Each label that was observed is a kernel, weighted by how often, that gives a little to every
    other (Aitchison and Aitken, Biometrika, 1976); how much is Optuna's choice.
    """
    labels, counts = np.unique(places, return_counts=True)
    kernels = np.full((len(labels) + 1, num_labels), 1 / (len(labels) + 1))
    kernels[np.arange(len(labels)), labels] += 1
    kernels /= kernels.sum(axis=1, keepdims=True)
    weights = np.append(counts, 1) / (len(places) + 1)
    return np.asarray(weights @ kernels + _LEAST)


def of_numbers(shares: Floats) -> Floats:
    """How likely each of 50 equal cells of the axis is, from the places 0..1 of the numbers.

    Normal kernels of a width by the rule of Scott (Multivariate Density Estimation, 1992), cut
    off at the ends of the axis, and one as wide as the axis as a prior.
    """
    cells = np.clip(np.ceil(shares * (_CELLS - 1) - 0.5), 0, _CELLS - 1)
    first, third = np.quantile(cells, (0.25, 0.75))
    spread = min((third - first) / 1.34, float(np.std(cells, ddof=1)) if len(cells) > 1 else 0.0)
    width = max(1.059 * spread * len(cells) ** -0.2, 0.5 / 1.64)
    centres, counts = np.unique(cells, return_counts=True)
    kernels = [_kernel(centre, width) for centre in centres]
    weights = np.append(counts, 1) / (len(cells) + 1)
    return np.asarray(weights @ np.array([*kernels, _kernel((_CELLS - 1) / 2, _CELLS)]) + _LEAST)


def _kernel(centre: float, width: float) -> Floats:
    """The mass of a normal distribution in each cell, of which all is within the axis."""
    edges = (np.arange(_CELLS + 1) - 0.5 - centre) / (width * math.sqrt(2))
    below = np.array([math.erf(edge) for edge in edges])
    mass = np.diff(below)
    return np.asarray(mass / mass.sum())

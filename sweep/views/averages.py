"""Average: mean, deviation and sum of finite numbers, also of the greatest that a float holds."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

_GREAT = 2.0**960
_SMALLER = 2.0**-64


def scale_for(numbers: Sequence[float]) -> float:
    """1, or a power of two by which the numbers are multiplied so that their sum is finite."""
    return _SMALLER if any(abs(number) > _GREAT for number in numbers) else 1.0


def mean_of(numbers: Sequence[float]) -> float | None:
    """The mean; None of no numbers."""
    if not numbers:
        return None
    scale = scale_for(numbers)
    return fmean(number * scale for number in numbers) / scale


def deviation_of(numbers: Sequence[float]) -> float | None:
    """The standard deviation (n - 1); None of fewer than two, or where no float holds it."""
    if len(numbers) < 2:
        return None
    scale = scale_for(numbers)
    deviation = stdev(number * scale for number in numbers) / scale
    return deviation if math.isfinite(deviation) else None


def sum_of(numbers: Sequence[float]) -> float | None:
    """The sum; None of no numbers, or where no float holds it."""
    if not numbers:
        return None
    scale = scale_for(numbers)
    total = math.fsum(number * scale for number in numbers) / scale
    return total if math.isfinite(total) else None

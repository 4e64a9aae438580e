"""Measure: one number taken several times, the contenders in turn; nothing of what is measured.

Timings of one machine drift while they are taken. So every contender has its turn in every round,
and contenders are compared within a round: a ratio is the median of the rounds' ratios.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

Found = TypeVar("Found")

ORDER_SEED = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One number as it was found in each round, the first round first."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.rounds)

    @property
    def low(self) -> float:
        return min(self.rounds)

    @property
    def high(self) -> float:
        return max(self.rounds)

    def over(self, other: "Measure") -> "Measure":
        """This number as a multiple of the other one, round by round."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return Measure(rounds=tuple(ours / theirs for ours, theirs in pairs))


def measure_of(numbers: Iterable[float]) -> Measure:
    """The measure of a number that was found so in each round."""
    return Measure(rounds=tuple(numbers))


def interleaved(
    contenders: Mapping[str, Callable[[int], Found]], rounds: int
) -> dict[str, list[Found]]:
    """What each contender found in each round; called with the round, from 0, in a mixed order."""
    found: dict[str, list[Found]] = {name: [] for name in contenders}
    mixer = random.Random(ORDER_SEED)
    for number in range(rounds):
        for name in mixer.sample(list(contenders), len(contenders)):
            found[name].append(contenders[name](number))
    return found


def quantile(numbers: Sequence[float], share: float) -> float:
    """The number below which `share` (0..1) of the numbers lie: one of them, the nearest above."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

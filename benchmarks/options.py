"""Options: what all benchmarks are told on the command line."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """How much is measured, and with what.

    `quick` is the smallest form that still goes through every step; its figures mean nothing.
    `rounds` is how often every contender has its turn, `seeds` how many searches are compared,
    `npz` a file of images (x_train, y_train, x_test, y_test) in place of made-up ones.
    """

    quick: bool = False
    rounds: int = 3
    seeds: int = 5
    npz: Path | None = None

    @property
    def num_rounds(self) -> int:
        return 1 if self.quick else self.rounds

    @property
    def num_seeds(self) -> int:
        return 1 if self.quick else self.seeds

"""Sparkline: how a number went, as a few blocks of text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = str.maketrans(BLOCKS, "_.:-=+*#")
"""For a terminal that has no blocks, rising as they do."""

GAP = " "


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The lowest and the highest number of all sparklines that are to be compared."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Self:
        """The span of the numbers that there are; of none, any."""
        known = [value for value in values if value is not None]
        return cls(low=min(known, default=0.0), high=max(known, default=0.0))


def sparkline(values: Sequence[float | None], span: Span, width: int) -> str:
    """The latest `width` numbers as blocks; a gap where there is none. Empty without a number."""
    latest = values[-width:]
    if all(value is None for value in latest):
        return ""
    return "".join(GAP if value is None else _block(value, span) for value in latest)


def _block(value: float, span: Span) -> str:
    if span.high <= span.low:
        return BLOCKS[len(BLOCKS) // 2]
    share = (value - span.low) / (span.high - span.low)
    return BLOCKS[min(max(int(share * len(BLOCKS)), 0), len(BLOCKS) - 1)]

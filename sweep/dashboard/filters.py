"""Filter: which trials of a study are looked at, as a page's address says it.

    ?state=complete&state=pruned&p.optimizer=sgd&p.lr=0.001..0.1

Values of one key are alternatives, keys are conditions together.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sweep.errors import UsageError
from sweep.records import Outline, ParamValue, Snapshot, Trial, TrialState
from sweep.space.names import hint
from sweep.views.comparison import sort_key
from sweep.views.display import one_line
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow
from sweep.views.series.axis import UNSET, label_of

PREFIX = "p."
STATE, TRIAL = "state", "trial"
MAX_CHOICES = 12
MAX_NUMBERS = 6
_TO = ".."


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A param whose values can be told apart by a few labels, and those in the trials."""

    param: str
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """A param of many numbers: which are looked at is said by two ends."""

    param: str
    low: float
    high: float


Option = Choice | Range
Ends = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """States, trials by number, and for each param the words that were asked for.

    A word is the label of a value; one that reads as a range has ends (inclusive) in `ranges` too.
    What is not named is not asked.
    """

    states: frozenset[TrialState]
    trials: frozenset[int]
    words: Mapping[str, frozenset[str]]
    ranges: Mapping[str, frozenset[Ends]]

    @property
    def key(self) -> object:
        """Equal for equal filters."""
        return (
            self.states,
            self.trials,
            tuple((name, self.words[name]) for name in sorted(self.words)),
        )

    @property
    def is_empty(self) -> bool:
        return not (self.states or self.trials or self.words)

    def takes(self, trial: Trial) -> bool:
        """Whether the trial is looked at."""
        if self.states and trial.state not in self.states:
            return False
        if self.trials and trial.number not in self.trials:
            return False
        return all(self._takes(trial, name) for name in self.words)

    def _takes(self, trial: Trial, name: str) -> bool:
        value = trial.params.get(name)
        is_named = _label(trial, name) in self.words[name]
        return is_named or any(_is_in(value, ends) for ends in self.ranges.get(name, ()))


def options_of(outline: Outline) -> list[Option]:
    """What the trials of a study can be filtered by: each param that differs between them, but
    for one of too many labels."""
    found: list[Option] = []
    for name in plan_of(outline).params:
        labels = {_label(trial, name): trial.params.get(name) for trial in outline.trials}
        numbers = _numbers(labels.values())
        if len(labels) > MAX_NUMBERS and numbers:
            found.append(Range(param=name, low=min(numbers), high=max(numbers)))
        elif 1 < len(labels) <= MAX_CHOICES:
            ordered = sorted(labels, key=lambda label: sort_key(labels[label]))
            found.append(Choice(param=name, labels=tuple(ordered)))
    return found


def filter_of(query: Mapping[str, Sequence[str]], params: Sequence[str]) -> Filter:
    """The filter that a query asks for. Raises UsageError for a state or param there is not."""
    words: dict[str, frozenset[str]] = {}
    ranges: dict[str, frozenset[Ends]] = {}
    for key, values in query.items():
        if not key.startswith(PREFIX):
            continue
        name = key.removeprefix(PREFIX)
        if name not in params:
            raise UsageError(f"no param {one_line(name)!r} is searched here; {hint(name, params)}")
        words[name] = frozenset(values)
        ranges[name] = frozenset(ends for value in values if (ends := ends_of(value)))
    return Filter(
        states=frozenset(_state(word) for word in query.get(STATE, ())),
        trials=frozenset(_trial(word) for word in query.get(TRIAL, ())),
        words=words,
        ranges=ranges,
    )


def filtered(
    snapshot: Snapshot, rows: Iterable[TrialRow], chosen: Filter
) -> tuple[Snapshot, list[TrialRow]]:
    """The study with only the trials that are looked at, and their rows."""
    if chosen.is_empty:
        return snapshot, list(rows)
    kept = [row for row in rows if chosen.takes(row.trial)]
    numbers = {row.number for row in kept}
    part = replace(
        snapshot,
        trials=tuple(trial for trial in snapshot.trials if trial.number in numbers),
        attempts=tuple(each for each in snapshot.attempts if each.trial in numbers),
        epochs=tuple(each for each in snapshot.epochs if each.trial in numbers),
    )
    return part, kept


def _label(trial: Trial, name: str) -> str:
    value = trial.params.get(name)
    return UNSET if value is None else label_of(value)


def _numbers(values: Iterable[ParamValue | None]) -> list[float]:
    """The values where all are finite numbers; else none."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, bool | str) or not math.isfinite(value) for value in known):
        return []
    return [float(value) for value in known]


def _state(word: str) -> TrialState:
    try:
        return TrialState(word)
    except ValueError as error:
        known = [state.value for state in TrialState]
        raise UsageError(f"there is no state {one_line(word)!r}; {hint(word, known)}") from error


def _trial(word: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) < 10):
        raise UsageError(f"{one_line(word)!r} is no number of a trial")
    return int(word)


def ends_of(text: str) -> Ends | None:
    """Two ends such as 0.1..1, either of which may be absent; None for what is no range."""
    low, mark, high = text.partition(_TO)
    if not mark or not (low or high):
        return None
    try:
        ends = float(low or -math.inf), float(high or math.inf)
    except ValueError:
        return None
    return None if any(map(math.isnan, ends)) else ends


def _is_in(value: ParamValue | None, ends: Ends) -> bool:
    if value is None or isinstance(value, str | bool):
        return False
    return ends[0] <= value <= ends[1]

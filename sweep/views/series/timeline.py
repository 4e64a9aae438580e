"""Timeline: which slot ran which trial when, and how busy the slots were."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from sweep.records import Attempt, Trial, TrialState
from sweep.views.rows import attempt_end, epochs_by_trial
from sweep.views.series.parts import Nothing
from sweep.views.series.subject import Subject

CUT_SHORT = "cut short"
PAUSE_S = 60.0
"""From how long on time in which no slot ran any trial lies between two runs of the study."""
MAX_BARS = 3_000
MAX_STEPS = 4_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """One attempt on a lane, in seconds since the study's first; or several that merge.

    `ending` is the attempt's state, or cut short where its trial was to go on. Of very many
    attempts, those that follow each other closely and ended alike are one bar.
    """

    lane: int
    start_s: float
    end_s: float
    ending: str
    first_trial: int
    last_trial: int
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """One slot: its device and host, and the share 0..1 of the study's time that it was used.

    The study's time is without its pauses. None where only some trials are known.
    """

    device: str
    host: str
    used: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelineSeries:
    """The slots with their attempts, and how many slots were in use at each moment.

    `in_use` are steps: from that second on so many. `used` is the share of all slots' time, as
    for a lane.
    """

    start: datetime
    span_s: float
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    in_use: tuple[tuple[float, int], ...]
    used: float | None


def timeline_series(subject: Subject) -> TimelineSeries | Nothing:
    """Every attempt on the slot that it ran on; on several GPUs, on that of each."""
    attempts = [
        replace(attempt, device=device)
        for attempt in sorted(subject.snapshot.attempts, key=lambda a: (a.started_at, a.trial))
        for device in attempt.device.split(",")
    ]
    if not attempts:
        return Nothing(reason="no trial has started yet")
    start = attempts[0].started_at
    spans = _spans(subject, attempts, start)
    span_s = max(end for _, end in spans)
    trials = {trial.number: trial for trial in subject.snapshot.trials}
    endings = [_ending(attempt, trials.get(attempt.trial)) for attempt in attempts]
    lanes, bars = _laid_out(attempts, spans, endings)
    steps = steps_of(spans)
    shares = _used(bars, len(lanes), steps) if subject.is_whole else None
    return TimelineSeries(
        start=start,
        span_s=span_s,
        lanes=tuple(
            replace(lane, used=None if shares is None else shares[number])
            for number, lane in enumerate(lanes)
        ),
        bars=tuple(merged(bars, span_s)),
        in_use=tuple(_shortened(steps)),
        used=None if shares is None else sum(shares) / len(lanes),
    )


def _used(bars: Iterable[Bar], num_lanes: int, in_use: Sequence[tuple[float, int]]) -> list[float]:
    """For each lane, the share that it was used of the study's time."""
    any_s = sum(
        end - begin
        for (begin, count), (end, _) in pairwise(in_use)
        if count or end - begin < PAUSE_S
    )
    busy_s = [0.0] * num_lanes
    for bar in bars:
        busy_s[bar.lane] += bar.end_s - bar.start_s
    return [lane_s / any_s if any_s else 0.0 for lane_s in busy_s]


def _spans(
    subject: Subject, attempts: Iterable[Attempt], start: datetime
) -> list[tuple[float, float]]:
    epochs = epochs_by_trial(subject.snapshot)
    spans = []
    for attempt in attempts:
        begin = (attempt.started_at - start).total_seconds()
        end = (attempt_end(attempt, epochs.get(attempt.trial, ())) - start).total_seconds()
        spans.append((begin, max(end, begin)))
    return spans


def _laid_out(
    attempts: Sequence[Attempt], spans: Sequence[tuple[float, float]], endings: Sequence[str]
) -> tuple[list[Lane], list[Bar]]:
    """A lane for each device, or several where attempts overlap on it; sorted by host, device."""
    ends: dict[tuple[str, str, int], float] = {}
    placed: list[tuple[tuple[str, str, int], int]] = []
    for index, (attempt, (begin, end)) in enumerate(zip(attempts, spans, strict=True)):
        place = 0
        while ends.get((attempt.host, attempt.device, place), begin) > begin:
            place += 1
        key = (attempt.host, attempt.device, place)
        ends[key] = end
        placed.append((key, index))
    order = {key: lane for lane, key in enumerate(sorted(ends))}
    lanes = [Lane(host=host, device=device, used=None) for host, device, _ in sorted(ends)]
    return lanes, [
        _bar(order[key], attempts[index].trial, spans[index], endings[index])
        for key, index in placed
    ]


def _ending(attempt: Attempt, trial: Trial | None) -> str:
    """How an attempt ended: one that failed although its trial did not was cut short."""
    is_last = trial is None or (attempt.attempt == trial.attempt and trial.state.is_finished)
    return CUT_SHORT if attempt.state is TrialState.FAILED and not is_last else attempt.state.value


def _bar(lane: int, trial: int, span: tuple[float, float], ending: str) -> Bar:
    return Bar(
        lane=lane,
        start_s=span[0],
        end_s=span[1],
        ending=ending,
        first_trial=trial,
        last_trial=trial,
        count=1,
    )


def merged(bars: Sequence[Bar], span_s: float) -> list[Bar]:
    """The bars by lane; of too many, those that no eye could tell apart have become one."""
    ordered = sorted(bars, key=lambda bar: (bar.lane, bar.start_s))
    gap_s = 0.0
    while len(ordered) > MAX_BARS and gap_s < span_s:
        gap_s = max(gap_s * 2, span_s / 2_000)
        ordered = _merged(ordered, gap_s)
    return ordered


def _merged(bars: Iterable[Bar], gap_s: float) -> list[Bar]:
    kept: list[Bar] = []
    for bar in bars:
        last = kept[-1] if kept else None
        if last is not None and _is_joined(last, bar, gap_s):
            count = last.count + bar.count
            kept[-1] = replace(last, end_s=bar.end_s, last_trial=bar.last_trial, count=count)
        else:
            kept.append(bar)
    return kept


def _is_joined(last: Bar, bar: Bar, gap_s: float) -> bool:
    """Whether two bars after each other look like one: close, and alike or too short to matter."""
    is_close = last.lane == bar.lane and bar.start_s - last.end_s <= gap_s
    return is_close and (last.ending == bar.ending or bar.end_s - last.start_s <= gap_s)


def steps_of(spans: Iterable[tuple[float, float]]) -> list[tuple[float, int]]:
    """How many of the spans hold from each moment on."""
    changes: dict[float, int] = {}
    for begin, end in spans:
        changes[begin] = changes.get(begin, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    steps, count = [], 0
    for moment in sorted(changes):
        count += changes[moment]
        steps.append((moment, count))
    return steps


def _shortened(steps: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Of very many steps, for each of equal times the last one."""
    if len(steps) <= MAX_STEPS:
        return list(steps)
    width = (steps[-1][0] - steps[0][0]) / MAX_STEPS
    last = {int((moment - steps[0][0]) / width): (moment, count) for moment, count in steps}
    return list(last.values())

"""Tracked events: what happens in a run, told to the logs elsewhere as it passes by."""

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

from sweep.coordinator.events import (
    EpochStored,
    Event,
    Notice,
    SweepEnded,
    TrialFinished,
    TrialStarted,
)
from sweep.spec.study import StudySpec
from sweep.trackers.entries import Entry, begun, ended, measured
from sweep.trackers.feed import Feed


def tracked(
    events: Generator[Event, None, None], spec: StudySpec, folder: Path
) -> Iterator[Event]:
    """The same events, with a notice where a log elsewhere fails; it never holds them up.

    Logs of the study lie in folders of their names below `folder`.
    """
    if not spec.log:
        yield from events
        return
    feed = Feed(logs=spec.log, study=spec.study, metric=spec.objective.metric, folder=folder)
    last: SweepEnded | None = None
    with closing(events), feed:
        for event in events:
            if isinstance(event, SweepEnded):
                last = event
                break
            entry = _entry(event)
            if entry is not None:
                feed.put(entry)
            yield event
            yield from _notices(feed)
    yield from _notices(feed)
    if last is not None:
        yield last


def _notices(feed: Feed) -> Iterator[Event]:
    return (Notice(text=text) for text in feed.notices())


def _entry(event: Event) -> Entry | None:
    match event:
        case TrialStarted(trial=trial, first_epoch=first):
            return begun(trial, first)
        case EpochStored(epoch=epoch):
            return measured(epoch)
        case TrialFinished(trial=trial):
            return ended(trial)
        case _:
            return None

"""Tracked events: what happens in a run, told to the logs elsewhere as it passes by."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
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
    metric = spec.objective.metric
    feeds = [Feed(log=log, study=spec.study, metric=metric, folder=folder) for log in spec.log]
    last: SweepEnded | None = None
    with closing(events), ExitStack() as running:
        for feed in feeds:
            running.enter_context(feed)
        for event in events:
            if isinstance(event, SweepEnded):
                last = event
                break
            if (entry := _entry(event)) is not None:
                for feed in feeds:
                    feed.put(entry)
            yield event
            yield from _notices(feeds)
        for feed in feeds:
            feed.finish()  # all at once: the time to write the rest is the same for each
    yield from _notices(feeds)
    if last is not None:
        yield last


def _notices(feeds: Sequence[Feed]) -> Iterator[Event]:
    return (Notice(text=text) for feed in feeds for text in feed.notices())


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

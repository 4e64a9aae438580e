"""Cache: studies as the pages need them, read again only where something has changed.

A standing is the little that the list of studies shows, and is kept of as good as all. A glance
is what the store says without the epochs of finished trials; a view has these too, and every
trial measured. Of a view that is older only the changed trials are read: 10,000 trials of
30 epochs take seconds to read at first, and a fraction of one after that.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Generic, TypeVar

from sweep import clock
from sweep.coordinator.holder import living_lease
from sweep.records import Attempt, Epoch, Lease, Outline, Snapshot, Study, Trial
from sweep.store.store import Store
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow, attempts_by_trial, epochs_by_trial, row_of
from sweep.views.summary import Summary, summary_of

MAX_STANDINGS = 5_000
MAX_GLANCES = 50
MAX_VIEWS = 3

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """Where a study stands at one moment.

    `version` differs once anything has changed, who leads it included.
    """

    version: str
    study: Study
    summary: Summary
    lease: Lease | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Glance(Standing):
    """A study at one moment, without the epochs of finished trials."""

    outline: Outline


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """All of a study at one moment, with a row for each trial, by number."""

    glance: Glance
    snapshot: Snapshot
    rows: tuple[TrialRow, ...]
    _measured: Mapping[int, "_Measured"] = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measured:
    """A trial with all that its row came from."""

    trial: Trial
    attempts: tuple[Attempt, ...]
    num_epochs: int
    epochs: tuple[Epoch, ...]
    row: TrialRow


class Recent(Generic[T]):
    """The values that were asked for last, by key; any thread may ask."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[object, T] = OrderedDict()

    def get(self, key: object) -> T | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: object, value: T) -> T:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


class StudyCache:
    """The studies of one store; of each, one thread at a time makes a standing, glance or view."""

    def __init__(self) -> None:
        self._standings: Recent[Standing] = Recent(MAX_STANDINGS)
        self._glances: Recent[Glance] = Recent(MAX_GLANCES)
        self._views: Recent[View] = Recent(MAX_VIEWS)
        self._locks: dict[tuple[str, int], threading.Lock] = {}
        self._lock = threading.Lock()

    def version(self, store: Store, study: Study) -> str:
        """A text that differs once the study has changed, or its leader."""
        return _version(store, study, living_lease(store, study))

    def standing(self, store: Store, study: Study) -> Standing:
        """Where the study stands now."""
        with self._lock_for("standing", study):
            known = self._standings.get(study.id)
            is_still = known is not None and known.lease is None
            if known is not None and is_still and known.version == self.version(store, study):
                return known
            now = self.glance(store, study)
            standing = Standing(
                version=now.version, study=now.study, summary=now.summary, lease=now.lease
            )
            return self._standings.put(study.id, standing)

    def glance(self, store: Store, study: Study) -> Glance:
        """The study now, without the epochs of finished trials."""
        with self._lock_for("glance", study):
            lease = living_lease(store, study)
            version = _version(store, study, lease)
            known = self._glances.get(study.id)
            if known is not None and known.version == version:
                return known if lease is None else _counted_on(known)
            return self._glances.put(study.id, _glance(store, study, version, lease))

    def view(self, store: Store, study: Study) -> View:
        """All of the study now."""
        with self._lock_for("view", study):
            glance = self.glance(store, study)
            known = self._views.get(study.id)
            if known is not None and known.glance.version == glance.version:
                return known
            return self._views.put(study.id, _view(store, glance, known))

    def _lock_for(self, kind: str, study: Study) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault((kind, study.id), threading.Lock())


def _version(store: Store, study: Study, lease: Lease | None) -> str:
    leader = "" if lease is None else f"-{lease.token}"
    return f"{study.id}-{store.version(study.id)}{leader}"


def _glance(store: Store, study: Study, version: str, lease: Lease | None) -> Glance:
    outline = store.outline(study.id)
    now = None if lease is None else clock.utc_now()
    return Glance(
        version=version,
        study=outline.study,
        outline=outline,
        summary=summary_of(outline, now),
        lease=lease,
    )


def _counted_on(glance: Glance) -> Glance:
    """The glance with the time and money that have gone by since."""
    return replace(glance, summary=summary_of(glance.outline, clock.utc_now()))


def _view(store: Store, glance: Glance, known: View | None) -> View:
    measured = _measured(store, glance, known)
    snapshot = Snapshot(
        study=glance.study,
        trials=glance.outline.trials,
        attempts=glance.outline.attempts,
        epochs=tuple(chain.from_iterable(each.epochs for each in measured.values())),
    )
    rows = tuple(each.row for each in measured.values())
    return View(glance=glance, snapshot=snapshot, rows=rows, _measured=measured)


def _measured(store: Store, glance: Glance, known: View | None) -> dict[int, _Measured]:
    """Each trial by number; those that are as they were are taken from the older view."""
    outline = glance.outline
    is_same_study = known is not None and known.glance.study == glance.study
    older = known._measured if known is not None and is_same_study else {}
    attempts = {number: tuple(each) for number, each in attempts_by_trial(outline).items()}
    kept = {
        trial.number: older[trial.number]
        for trial in outline.trials
        if _is_as_it_was(older.get(trial.number), trial, attempts, outline)
    }
    fresh = [trial for trial in outline.trials if trial.number not in kept]
    epochs = epochs_by_trial(outline) | _epochs(store, glance, fresh)
    plan = plan_of(outline)
    for trial in fresh:
        own, tried = tuple(epochs.get(trial.number, ())), attempts.get(trial.number, ())
        kept[trial.number] = _Measured(
            trial=trial,
            attempts=tried,
            num_epochs=outline.num_epochs.get(trial.number, 0),
            epochs=own,
            row=row_of(outline, trial, tried, own, plan),
        )
    return {trial.number: kept[trial.number] for trial in outline.trials}


def _is_as_it_was(
    known: _Measured | None,
    trial: Trial,
    attempts: Mapping[int, tuple[Attempt, ...]],
    outline: Outline,
) -> bool:
    """Of a trial that is not finished, an attempt may have gone over epochs again."""
    return (
        known is not None
        and trial.state.is_finished
        and known.trial == trial
        and known.num_epochs == outline.num_epochs.get(trial.number, 0)
        and known.attempts == attempts.get(trial.number, ())
    )


def _epochs(store: Store, glance: Glance, trials: list[Trial]) -> dict[int, list[Epoch]]:
    """The effective epochs of the finished ones; of very many, those of all are read at once."""
    study_id = glance.study.id
    numbers = {trial.number for trial in trials if trial.state.is_finished}
    is_most = len(numbers) > len(glance.outline.trials) // 4
    found = store.epochs(study_id) if is_most else store.epochs_of(study_id, numbers)
    grouped: dict[int, list[Epoch]] = {}
    for epoch in found:
        if epoch.trial in numbers:
            grouped.setdefault(epoch.trial, []).append(epoch)
    return grouped

"""Library: the studies behind the pages: looked up by name, filtered, and ready to be drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sweep.dashboard.cache import MAX_VIEWS, Glance, Recent, Standing, StudyCache
from sweep.dashboard.filters import Filter, filter_of, filtered
from sweep.dashboard.source import Source
from sweep.errors import NotFoundError
from sweep.records import Snapshot, Trial
from sweep.store.store import Store
from sweep.views.browser import drawn_json
from sweep.views.chapter import Table, listed, tables_by_param
from sweep.views.frames import Frame
from sweep.views.gallery import draw, kind_named
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow, trial_rows
from sweep.views.series.subject import Subject, subject_of
from sweep.views.tables import rows_table

MAX_PARTS = 6

Query = Mapping[str, Sequence[str]]


class Part:
    """What a filter leaves of a study; what its pages show of it is made once, when asked."""

    def __init__(self, snapshot: Snapshot, rows: Sequence[TrialRow], chosen: Filter) -> None:
        self.snapshot = snapshot
        self.rows = rows
        self._chosen = chosen
        self._drawn: dict[str, str] = {}

    @cached_property
    def subject(self) -> Subject:
        """What the figures are drawn from; an excluded trial only where it was chosen alone."""
        subject = subject_of(self.snapshot, rows=self.rows)
        is_alone = len(self._chosen.trials) == 1
        rows = self.rows if is_alone else subject.rows
        return replace(subject, rows=rows, is_whole=self._chosen.is_empty)

    @cached_property
    def by_param(self) -> list[Table]:
        """A table for each param that has more than one value."""
        return tables_by_param(self.subject)

    @cached_property
    def trials(self) -> Frame:
        """The table of its trials, by number, with the columns that tell something."""
        return listed(rows_table(self.rows, plan_of(self.snapshot).params))

    def figure(self, name: str) -> str:
        """The figure of that name as JSON. Raises UsageError for one that there is not."""
        if name not in self._drawn:
            self._drawn[name] = drawn_json(draw(kind_named(name), self.subject))
        return self._drawn[name]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialView:
    """One trial: a snapshot that holds nothing else, its row, and the numbers beside its own."""

    snapshot: Snapshot
    row: TrialRow
    before: int | None
    after: int | None

    @property
    def trial(self) -> Trial:
        return self.row.trial


class Library:
    """Studies of one source, kept as long as they are as they were; any thread may ask."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._cache = StudyCache()
        self._parts: Recent[Part] = Recent(MAX_PARTS)

    def standings(self) -> list[Standing]:
        """Where every study stands; none where nothing of ours is stored."""
        try:
            store = self._source.store()
        except NotFoundError:
            return []
        return [self._cache.standing(store, study) for study in store.studies()]

    def versions(self) -> str:
        """A text that differs once anything in the list of studies has changed."""
        try:
            store = self._source.store()
        except NotFoundError:
            return ""
        return " ".join(self._cache.version(store, study) for study in store.studies())

    def has(self, name: str) -> bool:
        """Whether a study of that name is stored."""
        return self._source.store().find_study(name) is not None

    def version(self, name: str) -> str:
        """A text that differs once the study has changed. Raises NotFoundError."""
        store = self._source.store()
        return self._cache.version(store, store.study(name))

    def glance(self, name: str) -> Glance:
        """The study without the epochs of finished trials. Raises NotFoundError."""
        store = self._source.store()
        return self._cache.glance(store, store.study(name))

    def filter(self, glance: Glance, query: Query) -> Filter:
        """The filter that a query asks for. Raises UsageError."""
        return filter_of(query, plan_of(glance.outline).params)

    def part(self, name: str, query: Query) -> Part:
        """What the query's filter leaves of the study. Raises NotFoundError and UsageError."""
        store = self._source.store()
        study = store.study(name)
        glance = self._cache.glance(store, study)
        chosen = self.filter(glance, query)
        if chosen.trials:
            return Part(*filtered(*_some(store, glance, chosen.trials), chosen), chosen)
        view = self._cache.view(store, study)
        key = (view.glance.version, chosen.key)
        known = self._parts.get(key)
        if known is not None:
            return known
        return self._parts.put(key, Part(*filtered(view.snapshot, view.rows, chosen), chosen))

    def warm(self) -> None:
        """The studies that people most likely look at are read: those that run, then the newest.

        Raises NotFoundError and StorageError.
        """
        store = self._source.store()
        ordered = sorted(self.standings(), key=lambda each: (each.lease is None, -each.study.id))
        for standing in reversed(ordered[:MAX_VIEWS]):
            self._cache.view(store, standing.study)

    def snapshot(self, name: str) -> Snapshot:
        """All of the study, as a command reads it. Raises NotFoundError."""
        store = self._source.store()
        return self._cache.view(store, store.study(name)).snapshot

    def trial(self, name: str, number: int) -> TrialView:
        """One trial of the study. Raises NotFoundError."""
        store = self._source.store()
        glance = self._cache.glance(store, store.study(name))
        numbers = [trial.number for trial in glance.outline.trials]
        if number not in numbers:
            there = f"it has 0 to {max(numbers)}" if numbers else "it has none yet"
            raise NotFoundError(f"study {name} has no trial {number}; {there}")
        snapshot, rows = _some(store, glance, frozenset([number]))
        return TrialView(
            snapshot=snapshot,
            row=rows[0],
            before=max((each for each in numbers if each < number), default=None),
            after=min((each for each in numbers if each > number), default=None),
        )


def _some(
    store: Store, glance: Glance, numbers: frozenset[int]
) -> tuple[Snapshot, list[TrialRow]]:
    """These trials alone: of a large study, little is read for them."""

    def is_asked(trial: Trial) -> bool:
        return trial.number in numbers

    outline = glance.outline
    snapshot = Snapshot(
        study=glance.study,
        trials=tuple(filter(is_asked, outline.trials)),
        attempts=tuple(each for each in outline.attempts if each.trial in numbers),
        epochs=store.epochs_of(glance.study.id, numbers),
    )
    return snapshot, trial_rows(snapshot)

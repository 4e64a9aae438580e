"""Loaded study: a stored study in Python, its tables as frames and its figures as plotly's."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sweep import clock
from sweep.cli.best_text import found_best
from sweep.cli.files import write_whole
from sweep.cli.studies import storage_url, stored, stored_study
from sweep.errors import UsageError
from sweep.notebook.arguments import fitted, given, of_type, path_text
from sweep.records import Snapshot, Trial
from sweep.spec.kinds import Whole
from sweep.store.store import open_store
from sweep.views.display import one_line, show_count

if TYPE_CHECKING:
    from sweep.training.train import TrainConfig
    from sweep.views.frames import Frame
    from sweep.views.gallery import Figure


_PARAM = "the name of a param"


class LoadedStudy:
    """A study as it was stored when it was loaded; `refresh` reads it again.

    Shows itself in a notebook. What it returns may be changed; the store never is.
    """

    def __init__(self, snapshot: Snapshot, url: str) -> None:
        self._snapshot = snapshot
        self._url = url

    def __repr__(self) -> str:
        trials = show_count(len(self._snapshot.trials), "trial")
        return f"<study {one_line(self.name)}: {trials}>"

    def _repr_html_(self) -> str:
        from sweep.views.excerpt import excerpt_html

        return excerpt_html(self._snapshot)

    @property
    def name(self) -> str:
        return self._snapshot.study.name

    @property
    def snapshot(self) -> Snapshot:
        """All the records of the study."""
        return self._snapshot

    def refresh(self) -> "LoadedStudy":
        """The same study, with all that has been stored since."""
        with open_store(self._url, create=False) as store:
            self._snapshot = store.snapshot(store.study(self.name).id)
        return self

    def trials(self) -> "Frame":
        """One row a trial, with the columns of `sweep export`; times are UTC."""
        from sweep.views.frames import typed
        from sweep.views.tables import trials_table

        return typed(trials_table([self._snapshot]))

    def epochs(self) -> "Frame":
        """One row for each trial and epoch (zero-based), with every metric."""
        from sweep.views.frames import typed
        from sweep.views.tables import epochs_table

        return typed(epochs_table([self._snapshot]))

    def attempts(self) -> "Frame":
        """One row for each try of a trial; times are UTC."""
        from sweep.views.frames import typed
        from sweep.views.tables import attempts_table

        return typed(attempts_table([self._snapshot]))

    def by(self, param: str) -> "Frame":
        """One row for each value of a param: what it took and reached.

        Raises UsageError for a param that the study has not.
        """
        from sweep.views.by_table import by_table

        return by_table([self._snapshot], of_type("param", param, str, _PARAM))

    def leaders(self, top: int = 10) -> "Frame":
        """The rows of the `top` best complete trials, the best first."""
        from sweep.views.frames import typed
        from sweep.views.tables import best_table

        most = fitted("top", top, Whole(1))
        return typed(best_table(self._snapshot, most))

    def best(self) -> Trial:
        """The complete trial with the best objective, with `.params`, `.value` and `.number`.

        Raises a SweepError without a complete one.
        """
        return found_best(self._snapshot, "accuracy", 1)[0].trial

    def figures(self) -> list[str]:
        """The names that `figure` takes."""
        from sweep.views.gallery import GALLERY

        return [kind.name for kind in GALLERY]

    def figure(
        self, name: str = "batch_size", *, param: str | None = None, by: str | None = None
    ) -> "Figure":
        """The figure of that name, of `param` instead of its usual one, coloured `by` another.

        Raises UsageError for an unknown name or param, or when there is nothing to draw yet.
        """
        from sweep.views.gallery import STUDIES, draw, figure_of, kind_named
        from sweep.views.series.subject import subject_of

        if name == STUDIES:
            raise UsageError(
                "the figure 'studies' lays two studies or more over each other; "
                "draw it with sweep.compare(study, other)"
            )
        kind = kind_named(of_type("name", name, str, "the name of a figure; figures() lists them"))
        subject = subject_of(
            self._snapshot,
            param=None if param is None else of_type("param", param, str, _PARAM),
            by=None if by is None else of_type("by", by, str, _PARAM),
        )
        return figure_of(draw(kind, subject))

    def report(self, path: str | Path) -> Path:
        """A report of the study is in the file, .html or .md. Raises UsageError for another."""
        place = Path(path_text("path", path, "a file such as report.html"))
        write_whole(place, _report(self._snapshot, place).encode(errors="backslashreplace"))
        return place

    def config(self, trial: int | None = None) -> "TrainConfig":
        """What `sweep.train` needs to train a trial anew: that number's, or the best one's.

        Raises UsageError for a study with a training function of its own, or an unknown number.
        """
        from sweep.notebook.training import config_of

        number = given("trial", trial, Whole(0))
        return config_of(self._snapshot, self.best() if number is None else self._trial(number))

    def _trial(self, number: int) -> Trial:
        for trial in self._snapshot.trials:
            if trial.number == number:
                return trial
        raise UsageError(
            f"there is no trial {number}; the study has {len(self._snapshot.trials)}, from 0"
        )


def load(study: str, storage: str | None = None) -> LoadedStudy:
    """A stored study, by its name or its file. Without `storage` the database is the command's:
    SWEEP_STORAGE, OPTUNA_STORAGE or sqlite:///runs/sweep.db.

    Raises NotFoundError with the near names, UnusableError when the database cannot be read.
    """
    name = path_text("study", study, "a study's name or its file; sweep.studies() lists them")
    with stored(storage_text(storage)) as store:
        snapshot = store.snapshot(stored_study(store, name).id)
    return LoadedStudy(snapshot, storage_url(storage))


def storage_text(storage: object) -> str | None:
    """The URL of a database as it was given. Raises UsageError for what is no text."""
    if storage is None:
        return None
    return of_type("storage", storage, str, "a URL such as sqlite:///runs/sweep.db")


def studies(storage: str | None = None) -> list[str]:
    """The names of the stored studies, the oldest first."""
    with stored(storage_text(storage)) as store:
        return [study.name for study in store.studies()]


def compare(*loaded: LoadedStudy) -> "Figure":
    """Two or more studies over each other. Raises UsageError when they cannot be compared."""
    from sweep.views.gallery import draw_studies, figure_of
    from sweep.views.series.subject import subject_of

    for each in loaded:
        of_type("a study to compare", each, LoadedStudy, "what sweep.load and sweep.run give")
    return figure_of(draw_studies([subject_of(each.snapshot) for each in loaded]))


def _report(snapshot: Snapshot, path: Path) -> str:
    snapshots: Sequence[Snapshot] = [snapshot]
    match path.suffix.casefold():
        case ".md":
            from sweep.views.markdown_report import md_report

            return md_report(snapshots, clock.utc_now())
        case ".html" | ".htm":
            from sweep.views.report import html_report

            return html_report(snapshots, clock.utc_now())
        case _:
            raise UsageError(
                f"{path} ends in neither .html nor .md; write one such as report.html"
            )

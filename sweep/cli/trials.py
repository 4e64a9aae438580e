"""Trials: the commands that set a trial apart, take it back, try it again, or add one."""

from typing import Annotated, Any

import typer

from sweep.cli.options import StorageOption, StudyOption
from sweep.cli.values import number
from sweep.spec.kinds import Whole

TrialOption = Annotated[
    Any,
    typer.Option(
        "--trial", metavar="N", parser=number("--trial", Whole(0)), help="Number of the trial."
    ),
]


def exclude(study: StudyOption, trial: TrialOption, storage: StorageOption = None) -> None:
    """Set a finished trial apart: it stays, but counts for nothing.

    It is in no comparison, is never best, and teaches the sampler nothing.
    """
    from sweep.requests import RequestKind

    _change(study, storage, RequestKind.EXCLUDE, trial)


def include(study: StudyOption, trial: TrialOption, storage: StorageOption = None) -> None:
    """Take back a trial that was excluded."""
    from sweep.requests import RequestKind

    _change(study, storage, RequestKind.INCLUDE, trial)


def retry(study: StudyOption, trial: TrialOption, storage: StorageOption = None) -> None:
    """Have a failed trial tried again, from its first epoch."""
    from sweep.requests import RequestKind

    _change(study, storage, RequestKind.RETRY, trial)


def enqueue(
    study: StudyOption,
    params: Annotated[
        str,
        typer.Option(metavar="NAME=VALUE,...", help="Its params, as in lr=0.1,batch_size=128."),
    ],
    storage: StorageOption = None,
) -> None:
    """Add a trial with these params; it is the next to run."""
    from sweep.cli.asking import changed, params_of
    from sweep.cli.studies import stored, stored_study
    from sweep.requests import RequestKind
    from sweep.spec.study import StudySpec

    with stored(storage) as store:
        found = stored_study(store, study)
        point = params_of(params, StudySpec.from_json(found.spec))
        changed(store, found, RequestKind.ENQUEUE, {"params": point})


def _change(study: str, storage: str | None, kind: Any, trial: int) -> None:
    from sweep.cli.asking import changed
    from sweep.cli.studies import stored, stored_study

    with stored(storage) as store:
        changed(store, stored_study(store, study), kind, {"trial": trial})

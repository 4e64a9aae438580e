"""Following: the command that shows what a trial printed."""

from typing import Annotated, Any

import typer

from sweep.cli.options import StorageOption, StudyOption
from sweep.cli.values import number
from sweep.spec.kinds import Whole


def logs(
    study: StudyOption,
    trial: Annotated[
        Any,
        typer.Option(metavar="N", parser=number("--trial", Whole(0)), help="Number of the trial."),
    ],
    attempt: Annotated[
        Any,
        typer.Option(
            metavar="N",
            parser=number("--attempt", Whole(1)),
            help="Which attempt.  [default: the latest]",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on until the attempt ends.")
    ] = False,
    storage: StorageOption = None,
) -> None:
    """Show what a trial printed, with the traceback of a failed one."""
    from sweep.cli.studies import stored, stored_study
    from sweep.cli.trial_log import found_attempt, show_log

    with stored(storage) as store:
        found = stored_study(store, study)
        show_log(store, found, found_attempt(store, found, trial, attempt), follow=follow)

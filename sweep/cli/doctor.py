"""The doctor: the command that says what is wrong with this machine, or with a stored study."""

from typing import Annotated

import typer

from sweep.cli.options import RunDirOption, StorageOption

_HELP = "Check what is stored of this study."


def doctor(
    study: Annotated[str | None, typer.Option(metavar="NAME|FILE", help=_HELP)] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair what can be repaired of the study.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    storage: StorageOption = None,
    run_dir: RunDirOption = None,
) -> None:
    """Say what is in the way of a run here, or wrong with a stored study.

    Devices, torch, disks, database, clock and limits; of a study whether
    its trials, epochs and checkpoints fit together. Exit code 4: there is a fault.
    """
    from sweep.cli.diagnosis import examined, examined_study
    from sweep.errors import UsageError

    if fix and study is None:
        raise UsageError("--fix is for one study; name it with --study")
    if study is None:
        raise typer.Exit(examined(storage, run_dir, as_json=as_json))
    raise typer.Exit(examined_study(study, storage, run_dir, fix=fix, as_json=as_json))

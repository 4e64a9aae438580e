"""Options: the flags that several commands share, each with one name, form and meaning."""

from typing import Annotated, Any

import typer

from sweep.cli.values import place

StudyOption = Annotated[
    str, typer.Option("--study", metavar="NAME|FILE", help="The study, or its file.")
]
StudiesOption = Annotated[
    list[str],
    typer.Option("--study", metavar="NAME|FILE", help="A study; repeat it to compare several."),
]
StorageOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The database.  [default: SWEEP_STORAGE, OPTUNA_STORAGE or sqlite:///runs/sweep.db]",
    ),
]
RunDirOption = Annotated[
    Any,
    typer.Option(
        metavar="DIR",
        parser=place("--run-dir", "runs"),
        help="Where checkpoints and logs lie.  [default: SWEEP_RUN_DIR or runs]",
    ),
]

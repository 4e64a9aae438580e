"""Options: the flags that several commands share, each with one name, form and meaning."""

from typing import Annotated

import typer

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
    str | None,
    typer.Option(
        metavar="DIR", help="Where checkpoints and logs lie.  [default: SWEEP_RUN_DIR or runs]"
    ),
]

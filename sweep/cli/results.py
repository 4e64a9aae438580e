"""Results: the commands that answer with what a study found."""

from typing import Annotated, Any

import typer

from sweep.cli.options import StorageOption, StudiesOption, StudyOption
from sweep.cli.values import number, place, word
from sweep.spec.kinds import OneOf, Whole

RANKS = ("accuracy", "time", "memory", "cost")
TABLES = ("trials", "epochs", "attempts")
BEST_FORMATS = ("table", "yaml", "json")
FORMATS = ("csv", "table", "json", "md", "tex", "xlsx", "tensorboard", "mlflow", "wandb")

TableOption = Annotated[
    Any,
    typer.Option(
        metavar="|".join(TABLES),
        parser=word("--table", OneOf(TABLES)),
        help="One row for each trial, epoch or attempt.  [default: trials]",
    ),
]
FormatOption = Annotated[
    Any,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        parser=word("--format", OneOf(FORMATS)),
        help="table fits the terminal, the last three fill a folder.  [default: csv]",
    ),
]

TableFileOption = Annotated[
    Any,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        parser=place("-o", "trials.csv"),
        help="Write it to this file.",
    ),
]
TopOption = Annotated[
    Any, typer.Option(metavar="K", parser=number("--top", Whole(1)), help="How many trials.")
]
RankOption = Annotated[
    Any,
    typer.Option(
        metavar="|".join(RANKS),
        parser=word("--rank", OneOf(RANKS)),
        help="The best objective, or the least time an epoch, memory or cost.",
    ),
]
BestFormatOption = Annotated[
    Any,
    typer.Option(
        "--format",
        metavar="|".join(BEST_FORMATS),
        parser=word("--format", OneOf(BEST_FORMATS)),
        help="yaml is ready to stand under `training:` in a study file.",
    ),
]
ModelOption = Annotated[
    Any,
    typer.Option(
        "--export",
        metavar="FILE",
        parser=place("--export", "best.pt"),
        help="Write the model of the best trial.",
    ),
]
ReportFileOption = Annotated[
    Any,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        parser=place("-o", "report.html"),
        help="report.html or report.md.",
    ),
]
ImageOption = Annotated[
    Any,
    typer.Option(
        metavar="FILE",
        parser=place("--image", "plot.png"),
        help="Draw a figure as .png, .svg or .pdf as well.",
    ),
]


def best(
    study: StudyOption,
    top: TopOption = "1",
    rank: RankOption = "accuracy",
    form: BestFormatOption = "table",
    export_to: ModelOption = None,
    storage: StorageOption = None,
) -> None:
    """Show the best trials of a study.

    Only complete trials are ranked; a pruned trial is never best.
    """
    from sweep.cli.best_text import best_text, found_best, notes
    from sweep.cli.console import answer, tell, width
    from sweep.cli.model_export import check_export, export_model
    from sweep.cli.studies import measurements_of, snapshot_of

    model = check_export(export_to, top)
    if model is None:
        (snapshot,) = measurements_of([study], storage)
    else:
        snapshot = snapshot_of(study, storage)
    rows = found_best(snapshot, rank, top)
    if model is not None:
        export_model(snapshot, rows, model)
    answer(best_text(snapshot, rows, form, width()))
    for note in notes(snapshot):
        tell(f"note: {note}")


def export(
    studies: StudiesOption,
    table: TableOption = None,
    by: Annotated[
        str | None, typer.Option(metavar="PARAM", help="One row for each value of this param.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="These columns only, in this order.")
    ] = None,
    form: FormatOption = None,
    output: TableFileOption = None,
    bom: Annotated[
        bool, typer.Option("--bom", help="Begin with a byte order mark, for spreadsheets.")
    ] = False,
    storage: StorageOption = None,
) -> None:
    """Write a table of trials, epochs, attempts, or by one param."""
    from sweep.cli.console import width
    from sweep.cli.exporting import (
        ExportFlags,
        check_flags,
        deliver,
        exported,
        form_of,
        log_elsewhere,
    )
    from sweep.cli.studies import measurements_of

    flags = ExportFlags(
        table=table, by=by, columns=columns, form=form or form_of(output), output=output, bom=bom
    )
    check_flags(flags)
    if flags.is_log:
        log_elsewhere(measurements_of(studies, storage), flags)
    else:
        deliver(
            exported(measurements_of(studies, storage), flags, width()), flags.path, flags.form
        )


def report(
    studies: StudiesOption,
    output: ReportFileOption = None,
    image: ImageOption = None,
    figures: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME|all",
            help="Which figure --image draws; of several each has its name in the file's.",
        ),
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Write a report with tables and figures as one file.

    Or, with --image, a figure for a paper.
    """
    from sweep.cli.reporting import ReportFlags, check_flags, deliver
    from sweep.cli.studies import measurements_of

    flags = ReportFlags(output=output, image=image, figures=tuple(figures or ()))
    check_flags(flags)
    raise typer.Exit(deliver(measurements_of(studies, storage), flags))

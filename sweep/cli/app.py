"""The app: the list of the commands, in the order in which `sweep --help` shows them."""

from typing import Annotated

import typer

from sweep.cli.cleaning import clean
from sweep.cli.console import answer
from sweep.cli.doctor import doctor
from sweep.cli.following import logs
from sweep.cli.looking import list_studies, status
from sweep.cli.moving import copy, delete
from sweep.cli.results import best, export, report
from sweep.cli.running import run, stop
from sweep.cli.serving import dashboard
from sweep.cli.storing import backup, upgrade
from sweep.cli.trials import enqueue, exclude, include, retry
from sweep.cli.writing import check, init

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
trials = typer.Typer(help="Change the trials of a study.")
storage = typer.Typer(help="Look after the database.")
studies = typer.Typer(help="Look after the stored studies.")


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from sweep import __version__

        answer(f"sweep {__version__}\n")
        raise typer.Exit


@app.callback()
def sweep(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Sweep hyperparameters of image classifiers: a study file in, tables you can trust out."""


for command in (
    run,
    init,
    check,
    status,
    stop,
    best,
    export,
    report,
    dashboard,
    logs,
    clean,
    doctor,
):
    app.command()(command)
for change in (exclude, include, retry, enqueue):
    trials.command()(change)
app.add_typer(trials, name="trials")
studies.command("list")(list_studies)
studies.command("delete")(delete)
studies.command("copy")(copy)
storage.command("upgrade")(upgrade)
storage.command("backup")(backup)
app.add_typer(studies, name="studies")
app.add_typer(storage, name="storage")

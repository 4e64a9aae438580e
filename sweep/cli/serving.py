"""Serving: the command that shows Optuna's pages of the stored studies."""

from typing import Annotated, Any

import typer

from sweep.cli.options import StorageOption
from sweep.cli.values import number
from sweep.spec.kinds import Whole


def dashboard(
    host: Annotated[
        str, typer.Option(metavar="HOST", help="An address of this machine's loopback.")
    ] = "127.0.0.1",
    port: Annotated[
        Any,
        typer.Option(
            metavar="N", parser=number("--port", Whole(0, 65535)), help="0 takes any free one."
        ),
    ] = "8080",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Answer under this name too, as behind a proxy."),
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Show the studies in a browser, read-only, until Ctrl-C."""
    from sweep.cli.console import answer, tell
    from sweep.cli.studies import storage_url
    from sweep.dashboard.server import serve

    def announce(url: str) -> None:
        answer(f"{url}\n")
        tell("read-only; Ctrl-C ends it")

    ended_by = serve(storage_url(storage), host, port, allow_host or (), announce)
    raise typer.Exit(128 + int(ended_by))

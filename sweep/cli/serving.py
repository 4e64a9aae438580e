"""Serving: the command that shows the stored studies in a browser."""

from typing import Annotated, Any

import typer

from sweep.cli.options import StorageOption
from sweep.cli.values import number
from sweep.spec.kinds import Whole


def dashboard(
    host: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            help="Where to listen; beyond this machine a token is asked for (SWEEP_TOKEN).",
        ),
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
    from sweep.cli.dashboard_door import announcer, place_of
    from sweep.cli.studies import storage_url
    from sweep.dashboard.server import serve

    place, is_made = place_of(host, port, allow_host or ())
    ended_by = serve(storage_url(storage), place, announcer(place, is_token_shown=is_made))
    raise typer.Exit(128 + int(ended_by))

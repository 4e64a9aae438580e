"""Looking: the commands that say where the stored studies stand."""

from typing import Annotated

import typer

from sweep.cli.options import StorageOption

_JSON = typer.Option("--json", help="Answer in JSON.")


def status(
    study: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="The study.  [default: all of them]")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again every 2 seconds, until Ctrl-C.")
    ] = False,
    as_json: Annotated[bool, _JSON] = False,
    storage: StorageOption = None,
) -> None:
    """Say where a study stands, or all of them."""
    from sweep.cli.standing import show_once, show_until_interrupted
    from sweep.cli.studies import stored
    from sweep.errors import UsageError

    if watch and as_json:
        raise UsageError("--watch and --json are both given; give one of them")
    with stored(storage) as store:
        if watch:
            show_until_interrupted(store, study)
        else:
            show_once(store, study, as_json=as_json)


def list_studies(as_json: Annotated[bool, _JSON] = False, storage: StorageOption = None) -> None:
    """List the stored studies."""
    from sweep.cli.console import answer, width
    from sweep.cli.studies import stored
    from sweep.cli.studies_text import studies_json, studies_text

    with stored(storage) as store:
        outlines = [store.outline(study.id) for study in store.studies()]
    answer(studies_json(outlines) if as_json else studies_text(outlines, width()))

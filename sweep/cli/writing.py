"""Study files: the commands that write one and that look whether one is right."""

from typing import Annotated, Any

import typer

from sweep.cli.values import place


def init(
    file: Annotated[
        Any,
        typer.Argument(
            metavar="FILE",
            parser=place("FILE", "my_study.yaml"),
            help="The study file to write.",
        ),
    ] = "my_study.yaml",
    train: Annotated[
        Any,
        typer.Option(
            metavar="FILE.py",
            parser=place("--train", "mine.py"),
            help="Write a training function of your own as well.",
        ),
    ] = None,
) -> None:
    """Write a study file to start from, ready to run.

    With --train also a training function of your own, which the study then runs.
    """
    from sweep.cli.console import tell
    from sweep.cli.starting import write_new_files
    from sweep.cli.studies import study_flag

    written = write_new_files(file, train)
    tell(f"wrote {' and '.join(written)}; try: sweep run {study_flag(written[0])}")


def check(
    study: Annotated[str, typer.Argument(metavar="NAME|FILE", help="The study file.")],
) -> None:
    """Check a study file, and show it as it is understood."""
    from pathlib import Path

    from sweep.cli.console import answer
    from sweep.cli.spec_text import spec_text
    from sweep.coordinator.own_code import check_own_code
    from sweep.spec.load import find_study_file, load_study_file

    spec = load_study_file(find_study_file(study, Path.cwd()))
    check_own_code(spec.recipe)
    answer(spec_text(spec))

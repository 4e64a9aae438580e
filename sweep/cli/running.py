"""Running: the commands that start a study and end it."""

from typing import Annotated, Any

import typer

from sweep.cli.options import RunDirOption, StorageOption, StudyOption
from sweep.cli.values import number, word
from sweep.spec.key_kinds import Duration
from sweep.spec.kinds import Whole

_AT_LEAST_1 = Whole(1)


def run(
    study: StudyOption,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Store the study under this name.")
    ] = None,
    gpus: Annotated[
        str | None,
        typer.Option(
            metavar="0,1|all|UUID", help="Run on these GPUs.  [default: all, or the CPU]"
        ),
    ] = None,
    cpu: Annotated[
        Any,
        typer.Option(
            metavar="N",
            parser=number("--cpu", _AT_LEAST_1),
            help="Run N trials at a time on the CPU.",
        ),
    ] = None,
    trials: Annotated[
        str | None, typer.Option(metavar="N", help="How many trials are to be finished in all.")
    ] = None,
    add_trials: Annotated[
        Any,
        typer.Option(
            metavar="N",
            parser=number("--add-trials", _AT_LEAST_1),
            help="How many trials more than are finished now.",
        ),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="Stop after this time in all, such as 2h.")
    ] = None,
    max_cost: Annotated[
        str | None, typer.Option(metavar="X", help="Stop once this much money is spent in all.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the study file."),
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="N", help="The seed of the search.")] = None,
    grace: Annotated[
        Any,
        typer.Option(
            metavar="TIME",
            parser=word("--grace", Duration()),
            help="How long a stopped trial may take to the end of its epoch.",
        ),
    ] = "30s",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run, and write nothing.")
    ] = False,
    storage: StorageOption = None,
    run_dir: RunDirOption = None,
) -> None:
    """Run a study; the same command goes on where it was cut short.

    It ends when its budget is used up or its space is exhausted. Ctrl-C lets
    each running trial end its epoch, a second one ends them at once.
    """
    from sweep.cli.planning import RunFlags, planned
    from sweep.cli.session import describe, lead

    flags = RunFlags(
        study=study,
        name=name,
        gpus=gpus,
        cpu=cpu,
        trials=trials,
        add_trials=add_trials,
        timeout=timeout,
        max_cost=max_cost,
        settings=tuple(set_ or ()),
        seed=seed,
        grace_s=grace,
        storage=storage,
        run_dir=run_dir,
    )
    plan = planned(flags)
    raise typer.Exit(describe(plan) if dry_run else lead(plan, flags))


def stop(
    study: StudyOption,
    now: Annotated[
        bool, typer.Option("--now", help="Kill its trials at once; they go on from their epoch.")
    ] = False,
    storage: StorageOption = None,
) -> None:
    """Stop a running study; each trial ends its epoch first.

    The study goes on from there when it is run again.
    """
    from sweep.cli.stopping import stopped
    from sweep.cli.studies import stored, stored_study
    from sweep.records import RequestKind

    kind = RequestKind.KILL if now else RequestKind.DRAIN
    with stored(storage) as store:
        stopped(store, stored_study(store, study), kind)

"""Running: the commands that start a study and end it."""

from typing import Annotated

import typer

from sweep.cli.options import RunDirOption, StorageOption, StudyOption
from sweep.cli.run_options import (
    AddTrialsOption,
    CpuOption,
    DetachOption,
    DryRunOption,
    GpusOption,
    GpusPerTrialOption,
    GraceOption,
    MaxCostOption,
    MemoryLimitOption,
    NameOption,
    SeedOption,
    SetOption,
    ShareBusyOption,
    ShareOption,
    TimeoutOption,
    TrialsOption,
    TrialsPerGpuOption,
)


def run(
    context: typer.Context,
    study: StudyOption,
    name: NameOption = None,
    gpus: GpusOption = None,
    cpu: CpuOption = None,
    trials: TrialsOption = None,
    add_trials: AddTrialsOption = None,
    timeout: TimeoutOption = None,
    max_cost: MaxCostOption = None,
    settings: SetOption = None,
    seed: SeedOption = None,
    grace: GraceOption = "30s",
    memory_limit: MemoryLimitOption = None,
    shares_busy: ShareBusyOption = False,
    detach: DetachOption = False,
    trials_per_gpu: TrialsPerGpuOption = None,
    gpus_per_trial: GpusPerTrialOption = None,
    share: ShareOption = None,
    dry_run: DryRunOption = False,
    storage: StorageOption = None,
    run_dir: RunDirOption = None,
) -> None:
    """Run a study; the same command goes on where it was cut short.

    Ctrl-C lets each running trial end its epoch, a second one ends them now.
    """
    from sweep.cli.places import Places
    from sweep.cli.planning import Changes, planned
    from sweep.cli.session import describe, start
    from sweep.cli.values import picked

    flags = context.params
    changes, places = picked(Changes, flags), picked(Places, flags)
    plan = planned(study, changes, places, add_trials=add_trials, grace_s=grace)
    raise typer.Exit(describe(plan) if dry_run else start(plan, storage, is_detached=detach))


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
    from sweep.requests import RequestKind

    kind = RequestKind.KILL if now else RequestKind.DRAIN
    with stored(storage) as store:
        stopped(store, stored_study(store, study), kind)

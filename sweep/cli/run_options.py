"""The options of `sweep run`."""

from typing import Annotated, Any

import typer

from sweep.cli.values import number, word
from sweep.spec.key_kinds import Duration, Size
from sweep.spec.kinds import OneOf, Whole

_AT_LEAST_1 = Whole(1)

NameOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Store the study under this name.")
]
GpusOption = Annotated[
    str | None,
    typer.Option(
        metavar="0,1|all|free:N|UUID", help="Run on these GPUs.  [default: all, or the CPU]"
    ),
]
CpuOption = Annotated[
    Any,
    typer.Option(
        metavar="N",
        parser=number("--cpu", _AT_LEAST_1),
        help="Run in N processes on the CPU: N trials at a time, as on N GPUs.",
    ),
]
TrialsOption = Annotated[
    str | None, typer.Option(metavar="N", help="How many trials are to be finished in all.")
]
AddTrialsOption = Annotated[
    Any,
    typer.Option(
        metavar="N",
        parser=number("--add-trials", _AT_LEAST_1),
        help="How many trials more than are finished now.",
    ),
]
TimeoutOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Stop after this time in all, such as 2h.")
]
MaxCostOption = Annotated[
    str | None, typer.Option(metavar="X", help="Stop once this much money is spent in all.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the study file."),
]
SeedOption = Annotated[str | None, typer.Option(metavar="N", help="The seed of the search.")]
GraceOption = Annotated[
    Any,
    typer.Option(
        metavar="TIME",
        parser=word("--grace", Duration()),
        help="How long a stopped trial may take to the end of its epoch.",
    ),
]
MemoryLimitOption = Annotated[
    Any,
    typer.Option(
        metavar="SIZE",
        parser=word("--memory-limit", Size()),
        help="What each trial may use of a GPU's memory, such as 20GiB.",
    ),
]
ShareBusyOption = Annotated[
    bool,
    typer.Option("--share-busy", help="Take a GPU also where somebody else is using it."),
]
DetachOption = Annotated[
    bool, typer.Option("--detach", help="Go on in the background, also when this shell is closed.")
]
TrialsPerGpuOption = Annotated[
    str | None,
    typer.Option(metavar="K|auto", help="Run K trials at a time on each GPU, or as many as fit."),
]
GpusPerTrialOption = Annotated[
    str | None, typer.Option(metavar="N", help="Train each trial on N GPUs together.")
]
ShareOption = Annotated[
    Any,
    typer.Option(
        "--share",
        metavar="group",
        parser=word("--share", OneOf(("group",))),
        help="Let your group read and write what is stored.  [default: you alone]",
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would run, and write nothing.")
]

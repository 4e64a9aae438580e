"""The worker program: load the training function once, then run what is assigned."""

import argparse
import contextlib
import faulthandler
import os
import traceback
from collections.abc import Sequence
from pathlib import Path

from sweep.errors import (
    DataError,
    DeviceError,
    DiskError,
    FullDiskError,
    SweepError,
    TrainFunctionError,
)
from sweep.wire import DUMP_SIGNAL, Assignment, Failed, Fetching, Ready, Refusal
from sweep.worker.channel import Channel
from sweep.worker.leaving import end_at_once
from sweep.worker.lifeline import start_guard

_REFUSALS = {  # the first that fits
    TrainFunctionError: Refusal.USAGE,
    DeviceError: Refusal.DEVICE,
    DataError: Refusal.DATA,
    FullDiskError: Refusal.FULL_DISK,
    DiskError: Refusal.DISK,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve one coordinator until it says Shutdown or its end of the pipe closes."""
    options = _parse(arguments)
    start_guard(options.down_fd, options.up_fd)
    faulthandler.enable(file=2)
    faulthandler.register(DUMP_SIGNAL, file=2)
    channel = Channel(options.down_fd, options.up_fd)
    channel.start()
    _serve(channel, options.recipe, options.device, options.memory_limit_bytes)
    if _is_built_in(options.recipe):  # a user's code may have put something off to the end
        end_at_once(0)


def _is_built_in(recipe: str) -> bool:
    from sweep.spec.recipe import RecipeSpec

    spec = RecipeSpec.model_validate_json(recipe)
    return spec.train is None and (spec.model is None or spec.model.factory is None)


def _serve(channel: Channel, recipe: str, device: str, memory_limit_bytes: int | None) -> None:
    # Imported here: torch takes seconds, and until the channel runs nobody sees this process die.
    from sweep.spec.recipe import RecipeSpec
    from sweep.training.archive import watched
    from sweep.training.device import versions
    from sweep.training.function import load_train_function
    from sweep.training.memory import release_cache
    from sweep.training.preparation import choices, prepare, usable_device
    from sweep.worker.attempt import LetGo, run_attempt
    from sweep.worker.disk import unwritten
    from sweep.worker.output import redirect_output
    from sweep.worker.team import Workplace

    workplace = Workplace(device=device, recipe=recipe, memory_limit_bytes=memory_limit_bytes)
    try:
        device_name = usable_device(device, memory_limit_bytes)
        spec = RecipeSpec.model_validate_json(recipe)
        function = load_train_function(spec)
        with watched(lambda name, done, total: channel.send(_fetching(name, done, total))):
            prepare(spec, device)
        found = versions() | choices(spec, device)
    except SweepError as error:
        channel.send(_refusal(error))
        return
    channel.send(Ready(pid=os.getpid(), device_name=device_name, versions=found))
    with contextlib.suppress(LetGo):
        while isinstance(message := channel.receive(), Assignment):
            try:
                redirect_output(Path(message.log))
            except OSError as error:
                channel.send(_refusal(unwritten(f"the log {message.log}", error)))
                return
            ended = run_attempt(function, message, workplace, channel.send, channel.receive)
            release_cache(device)  # others may need the room until the next trial comes
            channel.send(ended)


def _fetching(name: str, done: int, total: int | None) -> Fetching:
    return Fetching(name=name, done_bytes=done, total_bytes=total)


def _refusal(error: SweepError) -> Failed:
    refusal = next(
        (known for kind, known in _REFUSALS.items() if isinstance(error, kind)), Refusal.USAGE
    )
    return Failed(
        trial=None,
        attempt=None,
        message=str(error),
        traceback="".join(traceback.format_exception(error))[-20_000:],
        refusal=refusal,
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sweep.worker", description=__doc__)
    parser.add_argument("--device", required=True)
    parser.add_argument("--down-fd", type=int, required=True)
    parser.add_argument("--up-fd", type=int, required=True)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--memory-limit-bytes", type=int)
    return parser.parse_args(arguments)

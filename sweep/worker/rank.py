"""The program of a further rank: trains one trial together with the worker that has started it.

It lives in the worker's process group and for one attempt. What it prints goes to the attempt's
log; its metrics are those of every rank, so only the worker reports them.
"""

import argparse
import faulthandler
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from sweep.wire import Action, Assignment, Decision, Failed, Finished, Message, Ready
from sweep.worker.channel import Channel
from sweep.worker.leaving import end_at_once


def main(arguments: Sequence[str] | None = None) -> None:
    """Take one assignment, be ready, and train as far as the worker does."""
    options = _parse(arguments)
    faulthandler.enable()
    channel = Channel(options.down_fd, options.up_fd)
    channel.start()
    # Imported here: torch takes seconds, and until the channel runs nobody sees this process die.
    from sweep.worker.report import failure_of

    assignment = channel.receive()
    assert isinstance(assignment, Assignment), "a rank is told first what to train"
    try:
        with _prepared(options, assignment, channel) as epochs:
            # Told within the group: leaving it waits for the worker, which waits for this.
            ended = _trained(epochs, assignment, channel)
            channel.send(ended)
            if isinstance(ended, Failed):
                end_at_once(1)
    except (Exception, SystemExit) as error:  # the worker passes it on
        channel.send(failure_of(assignment, error))
        end_at_once(1)


@contextmanager
def _prepared(
    options: argparse.Namespace, assignment: Assignment, channel: Channel
) -> Iterator[Generator[Any, None, None]]:
    """The epochs of the training, within the ranks; the worker knows then that this one is."""
    from sweep.spec.recipe import RecipeSpec
    from sweep.training.checkpoint import load_checkpoint
    from sweep.training.function import epochs_of, load_train_function
    from sweep.training.preparation import prepare, usable_device
    from sweep.training.ranks import Ranks, find_meeting, joined

    name = usable_device(options.device, options.memory_limit_bytes)
    spec = RecipeSpec.model_validate_json(options.recipe)
    function = load_train_function(spec)
    prepare(spec, options.device)
    state = next((load_checkpoint(each).state for each in assignment.resume), None)
    channel.send(Ready(pid=os.getpid(), device_name=name, versions={}))
    ranks = Ranks(rank=options.rank, count=options.count)
    with joined(find_meeting(options.port, options.count), ranks, options.device):
        epochs = epochs_of(function, assignment.params, assignment.seed, options.device, state)
        yield epochs


def _trained(
    epochs: Generator[Any, None, None], assignment: Assignment, channel: Channel
) -> Finished | Failed:
    """Train epoch by epoch to the end, or as far as the worker wants; what is to be said of it."""
    from sweep.worker.report import failure_of

    try:
        with closing(epochs):
            is_stopped = any(not _goes_on(channel.receive()) for _ in epochs)
    except (Exception, SystemExit) as error:
        return failure_of(assignment, error)
    return Finished(trial=assignment.trial, attempt=assignment.attempt, stopped=is_stopped)


def _goes_on(answer: Message) -> bool:
    return isinstance(answer, Decision) and answer.action is Action.CONTINUE


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sweep.worker.rank", description=__doc__)
    parser.add_argument("--device", required=True)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--memory-limit-bytes", type=int)
    for number in ("--down-fd", "--up-fd", "--rank", "--count", "--port"):
        parser.add_argument(number, type=int, required=True)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()

"""One attempt of one trial: train epoch by epoch, save, report, and do as the answer says."""

import math
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from sweep.clock import monotonic_s
from sweep.errors import BrokenContractError, DamagedCheckpointError
from sweep.records import Cause, Checkpoint, ParamValue
from sweep.training.checkpoint import LoadedCheckpoint, load_checkpoint, save_checkpoint
from sweep.training.faults import is_out_of_memory
from sweep.training.function import EpochResult, TrainFunction, epochs_of
from sweep.training.memory import peak_memory_bytes, reset_peak
from sweep.wire import Action, Assignment, Decision, EpochReport, Failed, Finished, Message, Up

_OWN_COLUMNS = ("lr", "epoch_s", "images_per_s", "peak_memory_bytes")


class LetGo(BaseException):
    """The coordinator wants no more of this worker, in the middle of a trial."""


def run_attempt(
    function: TrainFunction,
    assignment: Assignment,
    device: str,
    send: Callable[[Up], None],
    receive: Callable[[], Message],
) -> Finished | Failed:
    """Run the attempt to its end or until it is told to stop; what is to be said of it then."""
    try:
        stopped = _train(function, assignment, device, send, receive)
    except (Exception, SystemExit) as error:  # what a train function raises is the trial's fault
        traceback.print_exc()
        return _failure(assignment, error)
    return Finished(trial=assignment.trial, attempt=assignment.attempt, stopped=stopped)


def _train(
    function: TrainFunction,
    assignment: Assignment,
    device: str,
    send: Callable[[Up], None],
    receive: Callable[[], Message],
) -> bool:
    loaded = _newest_readable(assignment.resume)
    if loaded is None and assignment.attempt > 1:
        print_line(f"no state was saved: attempt {assignment.attempt} starts over")
    first_epoch = 0 if loaded is None else loaded.epoch + 1
    state = None if loaded is None else loaded.state
    results = epochs_of(function, assignment.params, assignment.seed, device, state)
    has_metric = loaded is not None
    reset_peak(device)
    with closing(results):
        for epoch, (result, seconds) in enumerate(_timed(results), start=first_epoch):
            has_metric = has_metric or assignment.metric in result.metrics
            checkpoint = _save(assignment, epoch, result)
            send(_report(assignment, epoch, result, seconds, checkpoint, device))
            if _decision(assignment, epoch, receive()) is Action.STOP:
                return True
    if not has_metric:
        raise BrokenContractError(
            f"the train function never yielded the objective's metric {assignment.metric!r}; "
            "yield it in the dict of each epoch, or name another one under objective: metric:"
        )
    return False


def _timed(results: Iterable[EpochResult]) -> Iterator[tuple[EpochResult, float]]:
    start = monotonic_s()
    for result in results:
        yield result, monotonic_s() - start
        start = monotonic_s()


def _newest_readable(checkpoints: list[Checkpoint]) -> LoadedCheckpoint | None:
    for checkpoint in checkpoints:
        try:
            return load_checkpoint(checkpoint)
        except DamagedCheckpointError as error:
            print_line(f"passed over a checkpoint: {error}")
    return None


def _save(assignment: Assignment, epoch: int, result: EpochResult) -> Checkpoint | None:
    is_due = (epoch + 1) % assignment.checkpoint_every == 0
    is_last = epoch + 1 == assignment.params.get("epochs")
    if result.state is None or not assignment.keeps_checkpoints or not (is_due or is_last):
        return None
    path = Path(assignment.folder) / f"a{assignment.attempt}-e{epoch}.pt"
    return save_checkpoint(path, result.state, epoch, result.metrics)


def _report(
    assignment: Assignment,
    epoch: int,
    result: EpochResult,
    seconds: float,
    checkpoint: Checkpoint | None,
    device: str,
) -> EpochReport:
    numbers = dict(result.metrics)
    own = {name: _finite(numbers.pop(name, None)) for name in _OWN_COLUMNS}
    metrics = {name: _finite(value) for name, value in numbers.items()}
    peak = own["peak_memory_bytes"]
    return EpochReport(
        trial=assignment.trial,
        attempt=assignment.attempt,
        epoch=epoch,
        metrics=metrics,
        finite=all(value is not None for value in metrics.values()),
        lr=own["lr"] if own["lr"] is not None else _number(assignment.params.get("lr")),
        epoch_s=seconds if own["epoch_s"] is None else own["epoch_s"],
        images_per_s=own["images_per_s"],
        peak_memory_bytes=peak_memory_bytes(device) if peak is None else int(peak),
        checkpoint=checkpoint,
    )


def _decision(assignment: Assignment, epoch: int, answer: Message) -> Action:
    match answer:
        case Decision(trial=assignment.trial, attempt=assignment.attempt, epoch=answered):
            assert answered == epoch, f"an answer to epoch {answered} while {epoch} was reported"
            return answer.action
        case _:
            raise LetGo


def _failure(assignment: Assignment, error: BaseException) -> Failed:
    return Failed(
        trial=assignment.trial,
        attempt=assignment.attempt,
        message=describe(error),
        traceback="".join(traceback.format_exception(error))[-20_000:],
        cause=Cause.OUT_OF_MEMORY if is_out_of_memory(error) else Cause.EXCEPTION,
        is_broken_contract=isinstance(error, BrokenContractError),
    )


def describe(error: BaseException) -> str:
    """An exception in one line: its type and the first line of what it says."""
    lines = str(error).strip().splitlines()
    said = lines[0][:500] if lines else ""
    if isinstance(error, BrokenContractError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def print_line(text: str) -> None:
    """One line into the attempt's log."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _number(value: ParamValue | list[int] | None) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None

"""One attempt of one trial: train epoch by epoch, save, report, and do as the answer says."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sweep.clock import monotonic_s
from sweep.errors import BrokenContractError, DamagedCheckpointError
from sweep.records import Cause, Checkpoint
from sweep.training.checkpoint import LoadedCheckpoint, load_checkpoint, save_checkpoint
from sweep.training.function import EpochResult, TrainFunction, epochs_of
from sweep.training.memory import baseline_memory_bytes, free_memory, reset_peak
from sweep.wire import Action, Assignment, Decision, Failed, Finished, Message, Up
from sweep.worker.disk import unwritten
from sweep.worker.report import failure_of, known_not_to_fit, report_of
from sweep.worker.room import Room
from sweep.worker.team import RankFault, Team, Workplace


class LetGo(BaseException):
    """The coordinator wants no more of this worker, in the middle of a trial."""


def run_attempt(
    function: TrainFunction,
    assignment: Assignment,
    workplace: Workplace,
    send: Callable[[Up], None],
    receive: Callable[[], Message],
) -> Finished | Failed:
    """Run the attempt to its end or until it is told to stop; what is to be said of it then.

    When memory runs out, and the study allows it, it goes on with smaller parts of a batch.
    """
    return _Attempt(function, assignment, workplace, send, receive).run()


class _Attempt:
    """An attempt under way: what it has reported and saved, and the room it has in memory."""

    def __init__(
        self,
        function: TrainFunction,
        assignment: Assignment,
        workplace: Workplace,
        send: Callable[[Up], None],
        receive: Callable[[], Message],
    ) -> None:
        self._function = function
        self._assignment = assignment
        self._workplace = workplace
        self._device = workplace.device
        self._send = send
        self._receive = receive
        self._room = Room(assignment)
        self._saved = list(assignment.resume)
        self._num_reported = 0
        self._baseline_bytes: int | None = None

    def run(self) -> Finished | Failed:
        self._baseline_bytes = baseline_memory_bytes(self._device)
        if not self._room.avoid(self._assignment.too_large):
            return self._given_up(known_not_to_fit(self._assignment))
        while True:
            ended = self._try()
            if isinstance(ended, Finished):
                return ended
            if ended.cause is not Cause.OUT_OF_MEMORY or not self._room.run_out():
                return self._given_up(ended)
            # only here, where the error no longer holds on to what it saw in memory
            free_memory(self._device)
            print_line(
                f"{ended.message}; again from the last checkpoint, if there is one, with "
                f"{self._room.micro_batch} images at once: the optimizer sees the same batches, "
                "BatchNorm smaller ones"
            )

    def _given_up(self, failed: Failed) -> Failed:
        print_line(failed.traceback.rstrip() or failed.message)
        return self._room.judged(failed)

    def _try(self) -> Finished | Failed:
        assignment = self._assignment
        try:
            stopped = self._train()
        except RankFault as fault:
            return fault.failed
        except (Exception, SystemExit) as error:  # what a train function raises is its own fault
            return failure_of(assignment, error)
        return Finished(trial=assignment.trial, attempt=assignment.attempt, stopped=stopped)

    def _train(self) -> bool:
        assignment = self._assignment
        _remove_partial_files(Path(assignment.folder))
        loaded = _newest_readable(self._saved)
        if loaded is None and assignment.attempt > 1:
            print_line(f"no state was saved: attempt {assignment.attempt} starts over")
        first_epoch = 0 if loaded is None else loaded.epoch + 1
        state = None if loaded is None else loaded.state
        results = epochs_of(
            self._function, self._room.params, assignment.seed, self._device, state
        )
        has_metric = loaded is not None
        reset_peak(self._device)
        with self._team(loaded) as team, closing(results):
            for epoch, (result, seconds) in enumerate(_timed(results), start=first_epoch):
                team.check()
                has_metric = has_metric or assignment.metric in result.metrics
                print_line(epoch_line(epoch, result))
                if epoch >= self._num_reported and self._report(epoch, result, seconds):
                    team.stop(epoch)
                    return True
                team.go_on(epoch)
        if not has_metric:
            raise BrokenContractError(
                "the train function never yielded the objective's metric "
                f"{assignment.metric!r}; "
                "yield it in the dict of each epoch, or name another one under objective: metric:"
            )
        return False

    def _team(self, loaded: LoadedCheckpoint | None) -> Team:
        """The further ranks, which start from the same state with the same params."""
        saved = [each for each in self._saved if loaded is not None and each.epoch == loaded.epoch]
        told = replace(self._assignment, params=dict(self._room.params), resume=saved[:1])
        return Team(told, self._workplace, self._tell_of_others)

    def _tell_of_others(self, failed: Failed) -> None:
        """The team has failed, and the attempt itself hangs: it is given up."""
        if failed.cause is Cause.OUT_OF_MEMORY:
            self._room.run_out()
        self._send(self._given_up(failed))

    def _report(self, epoch: int, result: EpochResult, seconds: float) -> bool:
        """Save and report an epoch that has not been reported; whether to stop after it."""
        checkpoint = _save(self._assignment, epoch, result)
        report = report_of(self._assignment, epoch, result, seconds, self._device)
        self._send(
            replace(
                report,
                checkpoint=checkpoint,
                baseline_memory_bytes=self._baseline_bytes,
                micro_batch=self._room.micro_batch,
                too_large=self._room.too_large,
            )
        )
        self._num_reported = epoch + 1
        if checkpoint is not None:
            self._saved = [checkpoint, *self._saved[:1]]
        return _decision(self._assignment, epoch, self._receive()) is Action.STOP


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


def _remove_partial_files(folder: Path) -> None:
    """Checkpoints that a worker was killed in the middle of writing."""
    for partial in folder.glob("*.partial"):
        partial.unlink(missing_ok=True)


def _save(assignment: Assignment, epoch: int, result: EpochResult) -> Checkpoint | None:
    is_due = (epoch + 1) % assignment.checkpoint_every == 0
    is_last = epoch + 1 == assignment.params.get("epochs")
    if result.state is None or not assignment.keeps_checkpoints or not (is_due or is_last):
        return None
    folder = Path(assignment.folder)
    path = folder / f"a{assignment.attempt}-e{epoch}.pt"
    try:
        return save_checkpoint(path, result.state, epoch, result.metrics)
    except OSError as error:
        raise unwritten(f"a checkpoint in {folder}", error) from error


def _decision(assignment: Assignment, epoch: int, answer: Message) -> Action:
    match answer:
        case Decision(trial=assignment.trial, attempt=assignment.attempt, epoch=answered):
            assert answered == epoch, f"an answer to epoch {answered} while {epoch} was reported"
            return answer.action
        case _:
            raise LetGo


def epoch_line(epoch: int, result: EpochResult) -> str:
    """An epoch and its metrics in one line of the log; epochs count from 1 there."""
    metrics = "  ".join(f"{name} {value:.4g}" for name, value in result.metrics.items())
    return f"epoch {epoch + 1}: {metrics}"


def print_line(text: str) -> None:
    """One line into the attempt's log."""
    with contextlib.suppress(OSError):
        os.write(2, f"{text}\n".encode(errors="replace"))

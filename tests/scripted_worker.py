"""A worker that trains nothing: it speaks the real protocol and acts out what its params say.

Params: `quality` (the accuracy it tends to), `act` and `at` (what it does when it reaches that
epoch). It saves checkpoints of a few bytes and resumes from them, without torch.
"""

import argparse
import hashlib
import json
import math
import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sweep.records import Cause, Checkpoint
from sweep.wire import Action, Assignment, Decision, EpochReport, Failed, Finished, Ready, Refusal
from sweep.worker.channel import Channel
from sweep.worker.lifeline import start_guard


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--device", "--recipe"):
        parser.add_argument(name)
    for name in ("--down-fd", "--up-fd"):
        parser.add_argument(name, type=int)
    options = parser.parse_args()
    start_guard(options.down_fd, options.up_fd)
    channel = Channel(options.down_fd, options.up_fd)
    channel.start()
    refusal = os.environ.get("SCRIPTED_REFUSAL") or _refuses_again() or _refuses_gpu()
    if refusal:
        message = "no" if options.device == "cpu" else f"cannot use {options.device}: it is broken"
        channel.send(
            Failed(
                trial=None, attempt=None, message=message, traceback="", refusal=Refusal(refusal)
            )
        )
        return
    if os.environ.get("SCRIPTED_FALSE_START"):
        os.write(1, b"cannot go on\n")
        os._exit(3)
    channel.send(Ready(pid=os.getpid(), device_name="scripted", versions={"torch": "none"}))
    while isinstance(message := channel.receive(), Assignment):
        channel.send(_attempt(channel, message))


def _refuses_gpu() -> str | None:
    """Some GPUs are broken, and the workers of the others take longer to be ready."""
    broken = os.environ.get("SCRIPTED_BROKEN_GPUS")
    if broken is None:
        return None
    if os.environ["CUDA_VISIBLE_DEVICES"] in broken.split(","):
        return "device"
    time.sleep(1.0)
    return None


def _refuses_again() -> str | None:
    """The third worker of a study finds its device broken."""
    folder = os.environ.get("SCRIPTED_REFUSES_AGAIN")
    if folder is None:
        return None
    for number in range(9):
        with suppress(FileExistsError):
            (Path(folder) / f"worker-{number}").touch(exist_ok=False)
            return "device" if number == 2 else None
    return None


def _attempt(channel: Channel, assignment: Assignment) -> Finished | Failed:
    params = assignment.params
    Path(assignment.log).parent.mkdir(parents=True, exist_ok=True)
    Path(assignment.log).write_text(f"attempt {assignment.attempt}\n")
    start = assignment.resume[0].epoch + 1 if assignment.resume else 0
    for epoch in range(start, int(params["epochs"])):
        if epoch == 1 and Path(os.environ.get("SCRIPTED_FULL_DISK", "/none")).exists():
            return _failed(assignment, "acted: full", refusal=Refusal.FULL_DISK)
        if epoch == params.get("at", 1):
            failed = _act(str(params.get("act", "fine")), assignment)
            if failed is not None:
                return failed
        if params.get("act") == "speak late":
            late = replace(_report(assignment, epoch, 9.0), attempt=assignment.attempt - 1)
            channel.send(late)
        if params.get("slow"):
            time.sleep(float(params["slow"]))
        value = float(params.get("quality", 0.8)) * (1 - 0.5 ** (epoch + 1))
        if params.get("act") == "nan" and epoch == params.get("at", 1):
            value = math.nan
        channel.send(_report(assignment, epoch, value))
        answer = channel.receive()
        if not isinstance(answer, Decision):
            os._exit(0)
        if answer.action is Action.STOP:
            return Finished(trial=assignment.trial, attempt=assignment.attempt, stopped=True)
    return Finished(trial=assignment.trial, attempt=assignment.attempt, stopped=False)


def _act(act: str, assignment: Assignment) -> Failed | None:
    if act == "die" or (act == "die once" and assignment.attempt == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "hang" or (act == "hang once" and assignment.attempt == 1):
        time.sleep(600)
    if act == "freeze":
        os.kill(os.getpid(), signal.SIGSTOP)
    if act == "die on bad" and os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-bad":
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "exit":
        os._exit(7)
    causes = {"raise": Cause.EXCEPTION, "memory": Cause.OUT_OF_MEMORY}
    if act in {*causes, "break", "disk"} or (act == "break down once" and assignment.attempt == 1):
        return Failed(
            trial=assignment.trial,
            attempt=assignment.attempt,
            message=f"acted: {act}",
            traceback="",
            cause=causes.get(act, Cause.EXCEPTION),
            is_broken_contract=act == "break",
            is_device_fault=act == "break down once",
            refusal=Refusal.DISK if act == "disk" else None,
        )
    return None


def _failed(assignment: Assignment, message: str, *, refusal: Refusal) -> Failed:
    return Failed(
        trial=assignment.trial,
        attempt=assignment.attempt,
        message=message,
        traceback="",
        refusal=refusal,
    )


def _report(assignment: Assignment, epoch: int, value: float) -> EpochReport:
    checkpoint = _save(assignment, epoch) if assignment.keeps_checkpoints else None
    return EpochReport(
        trial=assignment.trial,
        attempt=assignment.attempt,
        epoch=epoch,
        metrics={"test_accuracy": value if math.isfinite(value) else None},
        finite=math.isfinite(value),
        lr=None,
        epoch_s=0.01,
        images_per_s=100.0,
        peak_memory_bytes=1024,
        checkpoint=checkpoint,
    )


def _save(assignment: Assignment, epoch: int) -> Checkpoint:
    path = Path(assignment.folder) / f"a{assignment.attempt}-e{epoch}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(epoch).encode()
    path.write_bytes(data)
    return Checkpoint(epoch=epoch, path=str(path), sha256=hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    main()

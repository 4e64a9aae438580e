"""Detaching: a run that goes on in the background when the shell it was started from is closed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sweep.cli.console import answer, tell
from sweep.cli.ending import place_of, program
from sweep.cli.studies import study_flag
from sweep.coordinator.folders import make_folder, study_folder
from sweep.coordinator.plan import Plan
from sweep.coordinator.session import check_slots
from sweep.coordinator.standing import found_standing
from sweep.errors import NotFoundError
from sweep.store.store import open_store
from sweep.store.url import hide_password
from sweep.views.display import one_line

EVERY_S = 0.2
_STORAGE = "SWEEP_STORAGE"


def detached(plan: Plan, storage: str | None) -> int:
    """Start the run in the background and wait until it leads its study; the exit code.

    What it says goes to a file. A run that ends before it leads is over: what it said is told.
    """
    standing = found_standing(plan.url, plan.spec)
    standing.check_devices(plan.slots, allows_cpu=plan.allows_cpu)
    check_slots(plan)
    folder = study_folder(plan.run_folder, plan.spec.study, plan.url)
    make_folder(folder)
    log = folder.path / "run.log"
    begin = log.stat().st_size if log.exists() else 0
    with log.open("ab") as output:
        process = _started(output.fileno(), plan.url)
    try:
        _wait(process, plan)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    if process.poll() is not None:
        tell(log.read_bytes()[begin:].decode(errors="replace").rstrip())
        return process.returncode
    answer(_next_text(plan, process.pid, log, storage))
    return 0


def _started(output: int, url: str) -> subprocess.Popen[bytes]:
    """The same command again, of a session of its own; its database goes by the environment,
    where a password is not for everybody to see."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # inherited, as of nohup
    try:
        return subprocess.Popen(
            [sys.executable, sys.argv[0], *_arguments(sys.argv[1:])],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env=os.environ | {_STORAGE: url},
        )
    finally:
        signal.signal(signal.SIGHUP, before)


def _arguments(given: Sequence[str]) -> list[str]:
    """The command line without `--detach`, and without the database where that has a password."""
    kept: list[str] = []
    is_value = False
    for word in given:
        url = word.removeprefix("--storage=") if word.startswith("--storage=") else word
        is_secret = (is_value or url is not word) and hide_password(url) != url
        if is_secret and is_value:
            kept.pop()
        elif not is_secret and word != "--detach":
            kept.append(word)
        is_value = word == "--storage"
    return kept


def _wait(process: subprocess.Popen[bytes], plan: Plan) -> None:
    """Returns when the process leads the study, or has ended."""
    while process.poll() is None and not _leads(process.pid, plan):
        time.sleep(EVERY_S)


def _leads(pid: int, plan: Plan) -> bool:
    try:
        with open_store(plan.url, create=False) as store:
            study = store.find_study(plan.spec.study)
            lease = None if study is None else store.leader(study.id)
    except NotFoundError:
        return False
    return lease is not None and lease.is_current and lease.holder.pid == pid


def _next_text(plan: Plan, pid: int, log: Path, storage: str | None) -> str:
    study = study_flag(plan.spec.study)
    command, place = program(), place_of(storage)
    return (
        f"study {one_line(plan.spec.study)} runs in the background as pid {pid}; "
        f"what it says goes to {log}\n\n"
        f"look  {command} status {study}{place} --watch\n"
        f"logs  {command} logs {study}{place} --trial 0 -f\n"
        f"stop  {command} stop {study}{place}\n"
    )

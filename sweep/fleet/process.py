"""One worker process: started in a session of its own, spoken to over two pipes, reaped whole.

The pipe down is also the lifeline: when its only writing end closes, because this process closed
it or died, the worker kills its whole process group.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sweep.errors import WireError
from sweep.exits import describe_end
from sweep.fleet.slots import Slot
from sweep.strays import MARK, kill_strays, new_mark
from sweep.wire import DUMP_SIGNAL, MAX_LINE_BYTES, Down, Message, decode, encode

# -P: the folder that the user stands in must not shadow the modules of this package.
WORKER = (sys.executable, "-P", "-m", "sweep.worker")

_READ_BYTES = 65536
_WITHHELD = ("SWEEP_STORAGE", "OPTUNA_STORAGE", "PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE")


class WorkerProcess:
    """A running worker. `up_fd` and `pid_fd` become readable when there is something to take."""

    def __init__(self, slot: Slot, program: Sequence[str], recipe: str, log: Path) -> None:
        down_read, self._down_fd = os.pipe()
        self.up_fd, up_write = os.pipe()
        os.set_blocking(self.up_fd, False)
        self._buffer = bytearray()
        self._mark = new_mark()
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*program, *_arguments(slot, recipe, down_read, up_write)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(down_read, up_write),
                start_new_session=True,
                env=_environment(slot, os.environ) | {MARK: self._mark},
            )
        os.close(down_read)
        os.close(up_write)
        self.pid = self._process.pid
        self.pid_fd = os.pidfd_open(self.pid)
        self.has_hung_up = False
        self.log = log

    def send(self, message: Down) -> None:
        """Write one message; a worker that is gone is noticed by its end, not here."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._down_fd, encode(message))

    def receive(self) -> list[Message]:
        """The whole messages that have arrived. Raises WireError for a malformed one."""
        self._fill()
        *lines, rest = bytes(self._buffer).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise WireError(f"a message without an end after {len(rest)} bytes")
        self._buffer = bytearray(rest)
        return [decode(line) for line in lines]

    def hang_up(self) -> None:
        """Close the lifeline: the worker's process group kills itself."""
        if self._down_fd >= 0:
            os.close(self._down_fd)
            self._down_fd = -1

    def dump(self) -> None:
        """Have the worker print where it stands; it does so from its first message on."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, DUMP_SIGNAL)

    def stop(self) -> None:
        """Ask the worker and everything that it started to end."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the worker and everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def reap(self) -> str:
        """Collect the ended worker and the rest of its group; how it ended, in words."""
        self.kill()  # before the wait: until then the pid cannot pass to another process
        kill_strays(self._mark, self.pid)
        returncode = self._process.wait()
        self.hang_up()
        os.close(self.up_fd)
        os.close(self.pid_fd)
        return describe_end(returncode)

    def _fill(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.up_fd, _READ_BYTES):
                self._buffer += chunk
            self.has_hung_up = True


def _arguments(slot: Slot, recipe: str, down_fd: int, up_fd: int) -> list[str]:
    limit = slot.memory_limit_bytes
    return [
        f"--device={slot.torch_device}",
        f"--down-fd={down_fd}",
        f"--up-fd={up_fd}",
        f"--recipe={recipe}",
        *([] if limit is None else [f"--memory-limit-bytes={limit}"]),
    ]


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for code of a user's: nothing in it opens the database."""
    return {name: value for name, value in environment.items() if name not in _WITHHELD}


def _environment(slot: Slot, inherited: Mapping[str, str]) -> dict[str, str]:
    kept = without_secrets(inherited)
    threads = str(slot.num_threads)
    return kept | {
        "CUDA_VISIBLE_DEVICES": slot.device.uuid or "",
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "PYTHONUNBUFFERED": "1",
    }

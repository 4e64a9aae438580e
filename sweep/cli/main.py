"""The program: one command line in, one exit code out, and every fault explained in a line."""

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from sweep.cli.app import app
from sweep.cli.console import lost_answer, open_streams, tell
from sweep.errors import NotFoundError, SweepError, UnusableError

DEBUG = "--debug"
OUR_BUG = 70
_NO_STUDY = "Missing option '--study'"
_TOO_MANY_FILES = "too many files are open: raise the limit with ulimit -n, or use fewer slots"
INTERRUPTED = 130


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    open_streams()
    sys.exit(run_command([as_utf8(word) for word in sys.argv[1:]]))


def as_utf8(word: str) -> str:
    """A word of the command line as UTF-8, whatever the locale has made of it."""
    return os.fsencode(word).decode("utf-8", errors="surrogateescape")


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; its exit code. `--debug` counts wherever it stands before a `--`."""
    words, rest = _split(arguments)
    is_debug = DEBUG in words
    words = [word for word in words if word != DEBUG]
    try:
        _check_folder()
        code = app([*words, *rest] or ["--help"], prog_name="sweep", standalone_mode=False)
    except Exception as error:
        if is_debug:
            _show_traceback(error)
        return _explain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return int(code or 0)


def _check_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise NotFoundError(
            "the folder that this shell stands in is gone; cd to one that exists"
        ) from error


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return list(arguments[:end]), list(arguments[end:])


def _explain(error: Exception) -> int:
    """Say on stderr what went wrong, a line for each fault; the exit code that it means."""
    match error:
        case SweepError():
            message, code = str(error), error.exit_code
        case typer.TyperException():
            message, code = _usage_message(error), 2
        case typer.Abort():
            return INTERRUPTED
        case OSError(filename=str(name), strerror=str(reason)):
            message, code = f"{name} cannot be used: {reason.lower()}", UnusableError.exit_code
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            message, code = _TOO_MANY_FILES, UnusableError.exit_code
        case OSError(errno=errno.ENOSPC | errno.EBADF):
            unwritten = lost_answer(error)
            message, code = str(unwritten), unwritten.exit_code
        case _:
            found = " ".join(f"{type(error).__name__}: {error}".split())
            tell(f"internal error: {found} (this is a bug; run again with {DEBUG})")
            return OUR_BUG
    from sweep.views.display import one_line

    for line in message.splitlines():
        tell(f"error: {one_line(line)}")
    return code


def _usage_message(error: typer.TyperException) -> str:
    """What Typer says, in the form of all our errors: small first letter, and what to do next."""
    possible = sorted(getattr(error, "possibilities", None) or ())
    said = " ".join((error.message if possible else error.format_message()).split()).rstrip(".")
    hint = f". Did you mean {' or '.join(possible)}?" if possible else ""
    command = getattr(getattr(error, "ctx", None), "command_path", "sweep")
    if said == _NO_STUDY:
        return f"{said[:1].lower()}{said[1:]}; write --study NAME or --study FILE.yaml"
    return f"{said[:1].lower()}{said[1:]}{hint}; see: {command} --help"


def _show_traceback(error: Exception) -> None:
    import traceback

    tell("".join(traceback.format_exception(error)).rstrip())

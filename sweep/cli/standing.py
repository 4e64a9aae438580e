"""The standing of studies, shown once or again and again."""

import os
import sys
import time
from collections.abc import Sequence
from shutil import get_terminal_size

from sweep import clock
from sweep.cli.console import MIN_WIDTH, answer, width
from sweep.cli.status_text import overview_text, status_json, status_text
from sweep.cli.studies import Standing, standing_of, stored_study
from sweep.store.store import Store

EVERY_S = 2.0
_TOP, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[K", "\x1b[J"
_AROUND = 3
"""Rows beside the studies of a screen: the header, what is left out, and the cursor's."""
_BARE = ("", "dumb", "unknown")


def show_once(store: Store, name: str | None, *, as_json: bool) -> None:
    """One study, or all without a name, is on stdout as text or JSON."""
    standings = _standings(store, name)
    if as_json:
        answer(status_json(standings, clock.utc_now(), is_list=name is None))
    else:
        answer(_text(standings, name, width()))


def show_until_interrupted(store: Store, name: str | None) -> None:
    """The same, every two seconds, in place on a terminal; Ctrl-C ends it in peace."""
    is_redrawn = sys.stdout.isatty() and os.environ.get("TERM", "") not in _BARE
    try:
        if is_redrawn:
            answer(f"{_TOP}{_REST}")
        while True:
            standings = _standings(store, name)
            if is_redrawn:
                answer(redrawn(screenful(standings, name, *get_terminal_size())))
            else:
                answer(f"{_text(standings, name, width())}\n")
            time.sleep(EVERY_S)
    except KeyboardInterrupt:
        return


def screenful(standings: Sequence[Standing], name: str | None, columns: int, rows: int) -> str:
    """The text, cut to the rows of a terminal but the last, where the cursor stands.

    Of too many studies those that run are left, and the newest; a last line counts the others.
    """
    columns = max(MIN_WIDTH, columns)
    room = max(rows - _AROUND, 1)
    if name is None and len(standings) > room + 1:
        left = _text(_foremost(standings, room), name, columns)
        return f"{left}+{len(standings) - room} more\n"
    lines = _text(standings, name, columns).splitlines(keepends=True)
    over = len(lines) - room - 1
    return "".join(lines if over <= 1 else [*lines[: room + 1], f"+{over} more\n"])


def _foremost(standings: Sequence[Standing], count: int) -> list[Standing]:
    """So many, in their order: those that run, then the newest."""
    order = sorted(range(len(standings)), key=lambda i: (standings[i].lease is None, -i))
    return [standings[index] for index in sorted(order[:count])]


def redrawn(text: str) -> str:
    """The text from the top of a terminal on, over what stood there, so that nothing flickers."""
    lines = text.replace("\n", f"{_REST_OF_LINE}\n")
    return f"{_TOP}{lines}{_REST}"


def _standings(store: Store, name: str | None) -> list[Standing]:
    studies = store.studies() if name is None else [stored_study(store, name)]
    return [standing_of(store, study) for study in studies]


def _text(standings: Sequence[Standing], name: str | None, columns: int) -> str:
    if name is None:
        return overview_text(standings, clock.utc_now(), columns)
    return status_text(standings[0], clock.utc_now(), columns)

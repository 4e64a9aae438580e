"""The standing of studies, shown once or again and again."""

import os
import sys
import time
from collections.abc import Sequence

from sweep import clock
from sweep.cli.console import answer, width
from sweep.cli.status_text import overview_text, status_json, status_text
from sweep.cli.studies import Standing, standing_of, stored_study
from sweep.store.store import Store

EVERY_S = 2.0
_TOP, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[K", "\x1b[J"
_BARE = ("", "dumb", "unknown")


def show_once(store: Store, name: str | None, *, as_json: bool) -> None:
    """One study, or all without a name, is on stdout as text or JSON."""
    standings = _standings(store, name)
    if as_json:
        answer(status_json(standings, clock.utc_now(), is_list=name is None))
    else:
        answer(_text(standings, name))


def show_until_interrupted(store: Store, name: str | None) -> None:
    """The same, every two seconds, in place on a terminal; Ctrl-C ends it in peace."""
    is_redrawn = sys.stdout.isatty() and os.environ.get("TERM", "") not in _BARE
    try:
        if is_redrawn:
            answer(f"{_TOP}{_REST}")
        while True:
            text = _text(_standings(store, name), name)
            answer(redrawn(text) if is_redrawn else f"{text}\n")
            time.sleep(EVERY_S)
    except KeyboardInterrupt:
        return


def redrawn(text: str) -> str:
    """The text from the top of a terminal on, over what stood there, so that nothing flickers."""
    lines = text.replace("\n", f"{_REST_OF_LINE}\n")
    return f"{_TOP}{lines}{_REST}"


def _standings(store: Store, name: str | None) -> list[Standing]:
    studies = store.studies() if name is None else [stored_study(store, name)]
    return [standing_of(store, study) for study in studies]


def _text(standings: Sequence[Standing], name: str | None) -> str:
    if name is None:
        return overview_text(standings, clock.utc_now(), width())
    return status_text(standings[0], clock.utc_now(), width())

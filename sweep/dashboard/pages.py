"""Pages: which of our pages answers a path, and what is said where none can."""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from sweep.dashboard.address import (
    COMPARE,
    EXPORT,
    TRIALS,
    StudyAddress,
    below_study,
    is_number,
    segments,
    study_address,
    study_path,
)
from sweep.dashboard.answer import CSV, Answer, elsewhere, json_text, json_value, page, send
from sweep.dashboard.assets import ASSETS, asset
from sweep.dashboard.compare_page import EXPORTS, compare_page, tables_markup
from sweep.dashboard.layout import live, message_page, whole_page
from sweep.dashboard.library import Library, Query
from sweep.dashboard.optuna_pages import OptunaPages
from sweep.dashboard.overview import overview_markup, studies_markup
from sweep.dashboard.trial_page import detail_markup, log_markup, trial_page
from sweep.dashboard.trials_table import order_of
from sweep.errors import NotFoundError, SweepError, UnusableError, UsageError
from sweep.views.by_table import by_table
from sweep.views.display import one_line
from sweep.views.formats import to_csv
from sweep.views.markup import element
from sweep.views.selection import table_of

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

OVERVIEW, STATE = "overview", "state.json"
_log = logging.getLogger(__name__)


class Pages:
    """A WSGI application: our pages at their paths, and Optuna's at all that are its own."""

    def __init__(self, library: Library, optuna: OptunaPages) -> None:
        self._library = library
        self._optuna = optuna

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        parts: list[str] = []
        try:
            parts = segments(environ)
            if self._optuna.has(parts[0]):
                return self._optuna(environ, start_response)
            answer = self._answer(parts, parse_qs(environ.get("QUERY_STRING", "")))
        except Exception as error:
            answer = _explained(error, parts)
        return send(answer, environ, start_response)

    def _answer(self, parts: list[str], query: Query) -> Answer:
        match parts:
            case [""]:
                return self._start()
            case [name] if name == OVERVIEW:
                return page(studies_markup(self._library.standings()))
            case [name] if name == STATE:
                return json_value({"version": self._library.versions()})
            case [name, _, file] if name == ASSETS:
                return asset(file)
            case [name, *more] if name == COMPARE and any(more):
                return self._below(more, query)
        raise NotFoundError("there is no such page")

    def _start(self) -> Answer:
        studies = live(f"/{OVERVIEW}", studies_markup(self._library.standings()))
        return whole_page("Studies", element("h1", "Studies"), studies, poll=f"/{STATE}")

    def _below(self, parts: list[str], query: Query) -> Answer:
        """What the parts ask for; where a study has no such page, the one that is meant."""
        address = study_address(parts)
        study, path = below_study(parts)
        is_none = address.is_page and path and not self._library.has(address.study)
        if not is_none or not self._library.has(study):
            return self._of_study(address, query)
        table = path.removesuffix(".csv")
        if table in EXPORTS and path != table:
            return elsewhere(f"{study_path(study, EXPORT)}?table={table}")
        if path == TRIALS:
            return elsewhere(f"{study_path(study)}#{TRIALS}")
        message = f"study {study!r} has no page {path!r}"
        return message_page("404 Not found", message, _to_study(study))

    def _of_study(self, address: StudyAddress, query: Query) -> Answer:
        name = address.study
        if address.figure is not None:
            return json_text(self._library.part(name, query).figure(address.figure))
        if address.trial is not None:
            return self._of_trial(address, address.trial, query)
        match address.part:
            case "state.json":
                return json_value({"version": self._library.version(name)})
            case "overview":
                return page(overview_markup(self._library.glance(name)))
            case "tables":
                return page(tables_markup(self._library.part(name, query), order_of(query)))
            case "export.csv":
                return self._export(name, query)
        glance = self._library.glance(name)
        chosen = self._library.filter(glance, query)
        return compare_page(glance, chosen, self._optuna.study_id(name))

    def _of_trial(self, address: StudyAddress, number: int, query: Query) -> Answer:
        view = self._library.trial(address.study, number)
        match address.part:
            case "detail":
                return page(detail_markup(view))
            case "log":
                asked = [*query.get("attempt", ()), ""][0]
                attempt = int(asked) if is_number(asked) else None
                return page(log_markup(address.study, view.snapshot.attempts, attempt))
        return trial_page(view)

    def _export(self, name: str, query: Query) -> Answer:
        """The bytes that `sweep export` writes of the study."""
        snapshot = self._library.snapshot(name)
        by = [*query.get("by", ()), ""][0]
        table = [*query.get("table", ()), "trials"][0]
        if table not in EXPORTS:
            raise UsageError(f"there is no table {one_line(table)!r}; known: {', '.join(EXPORTS)}")
        frame = by_table([snapshot], by) if by else table_of([snapshot], table)
        file = f'attachment; filename="{"by" if by else table}.csv"'
        return Answer(
            body=to_csv(frame), content_type=CSV, headers=(("Content-Disposition", file),)
        )


def _explained(error: Exception, parts: list[str]) -> Answer:
    """What went wrong, on a page, or as JSON for who asked for that."""
    status = _status(error)
    if isinstance(error, SweepError):
        message = str(error)
    else:
        _log.error("a page failed: %s", type(error).__name__, exc_info=error)
        message = f"this is a bug in sweep: {type(error).__name__}; its log says more"
    if parts[-1:] == [STATE] or "figures" in parts[2:]:
        return json_value({"error": one_line(message)}, status)
    return message_page(status, message, _way_back(error, parts), again=status.startswith("503"))


def _status(error: Exception) -> str:
    match error:
        case NotFoundError():
            return "404 Not found"
        case UsageError():
            return "400 Bad request"
        case UnusableError():
            return "503 Not available"
    return "500 Internal error"


def _way_back(error: Exception, parts: list[str]) -> tuple[str, str]:
    """To the study where a trial or a filter of it was asked for, else to all of them."""
    if len(parts) > 1 and parts[0] == COMPARE and any(parts[1:]):
        address = study_address(parts[1:])
        is_below = address.trial is not None or isinstance(error, UsageError)
        if is_below:
            return _to_study(address.study)
    return "/", "All studies"


def _to_study(name: str) -> tuple[str, str]:
    return study_path(name), f"Study {one_line(name)}"

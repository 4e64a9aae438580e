"""Our pages answer with what is stored, under names of any kind, and say why they cannot."""

import json
import re
import shutil
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlsplit
from wsgiref.util import setup_testing_defaults

import pytest

from sweep import clock
from sweep.coordinator.folders import study_folder
from sweep.coordinator.holder import this_process
from sweep.dashboard import cache
from sweep.dashboard.address import study_path, trial_path
from sweep.dashboard.library import Library
from sweep.dashboard.optuna_pages import OptunaPages
from sweep.dashboard.pages import Pages
from sweep.dashboard.source import Source
from sweep.records import Cause, TrialState
from sweep.store.entries import NewTrial
from sweep.store.store import Store, open_store
from sweep.views.by_table import by_table
from sweep.views.formats import to_csv
from sweep.views.gallery import GALLERY
from sweep.views.rows import trial_rows
from sweep.views.selection import table_of
from tests.filled_store import PLACE, fill_store
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_attempt, make_spec, with_attempts

NAMES = [
    "plain",
    "a/b/trials/3",
    "学习率 对比",
    'quote\'s "double" <b>bold</b>',
    "100% & more? #1",
    "..",
    ".",
    "~home",
    "tables",
    "new\nline",
    "n" * 200,
]


class Site:
    """Our pages as an application that is asked without a server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.source = Source(url)
        self.library = Library(self.source)
        self._pages = Pages(self.library, OptunaPages(url, self.source))

    def ask(self, target: str, **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of what a target as in an address bar answers."""
        parts = urlsplit(target)
        environ = {"REQUEST_URI": target, "QUERY_STRING": parts.query, **headers}
        setup_testing_defaults(environ)
        answer = {}

        def start_response(status, fields, exc_info=None):
            answer.update(status=int(status[:3]), headers=dict(fields))

        body = b"".join(self._pages(environ, start_response))
        return answer["status"], answer["headers"], body.decode()

    def text(self, target: str) -> str:
        status, _, text = self.ask(target)
        assert status == 200, text
        return text

    def json(self, target: str):
        def refuse(word):
            raise AssertionError(f"{word} is no JSON")

        return json.loads(self.text(target), parse_constant=refuse)


@pytest.fixture
def site(sqlite_url):
    made = Site(sqlite_url)
    with made.source:
        yield made


@pytest.fixture
def filled(site):
    """The site with the study lr_bs of six trials."""
    fill_store(site.url, lr_batch_study())
    return site


def named_study(name):
    spec = make_spec({"lr": [0.1, 0.01]}, name=name)
    return SnapshotBuilder(spec).complete(0.5, 0.7, lr=0.1).complete(0.6, 0.8, lr=0.01).build()


def numbers_in(text):
    """The trials that a table of them lists."""
    links = text.split("/trials/")[1:]
    return [int(link.partition('"')[0]) for link in links]


def trials_in(site, query=""):
    text = site.text(f"/compare/lr_bs/tables{query}")
    return numbers_in(text.partition('id="trials"')[2])


def test_the_start_page_lists_every_study_with_its_progress_and_best(filled):
    text = unescape(filled.text("/"))
    assert 'href="/compare/lr_bs"' in text
    assert "6/6" in text
    assert "finished" in text
    assert "92.00%" in text


def test_a_cell_of_the_start_page_is_what_its_column_says(filled):
    text = filled.text("/")
    names = re.findall(r"<th[^>]*>(.*?)</th>", text)
    row = re.findall(r"<td[^>]*>(.*?)</td>", text)[: len(names)]
    cells = dict(zip(names, row, strict=True))
    assert "92.00%" in cells["best"]
    assert [cells[name] for name in ("complete", "pruned", "failed")] == ["4", "1", "1"]


def test_the_start_page_says_what_to_do_where_nothing_is_stored(site):
    with open_store(site.url, create=True):
        pass
    assert "sweep run --study quickstart" in site.text("/")


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:12]))
def test_a_study_of_any_name_has_its_pages(site, name):
    fill_store(site.url, named_study(name))
    for path in (
        study_path(name),
        study_path(name, "overview"),
        study_path(name, "tables"),
        study_path(name, "figures", "lr"),
        study_path(name, "export.csv"),
        trial_path(name, 1),
        trial_path(name, 1, "log"),
    ):
        assert site.ask(path)[0] == 200, path
    assert site.library.version(name) == site.json(study_path(name, "state.json"))["version"]
    shown = site.text("/")
    assert f'href="{study_path(name)}"' in unescape(shown)
    assert "<b>bold" not in shown
    assert trial_path(name, 1) in unescape(site.text(study_path(name, "tables")))


def test_a_path_that_a_server_has_decoded_is_understood_too(filled):
    environ = {"PATH_INFO": "/compare/lr_bs/tables", "QUERY_STRING": ""}
    setup_testing_defaults(environ)
    statuses = []
    filled._pages(environ, lambda status, headers: statuses.append(status))
    assert statuses == ["200 OK"]


@pytest.mark.parametrize("target", ["//[", "*", "http://box"])
def test_a_target_that_is_no_path_is_no_page_and_no_bug(filled, target):
    environ = {"REQUEST_URI": target, "PATH_INFO": "/"}
    setup_testing_defaults(environ)
    statuses = []
    filled._pages(environ, lambda status, headers: statuses.append(status))
    assert statuses == ["404 Not found"]


@pytest.mark.parametrize("kind", GALLERY, ids=lambda kind: kind.name)
def test_every_figure_of_the_gallery_is_answered_as_strict_json(filled, kind):
    drawn = filled.json(f"/compare/lr_bs/figures/{kind.name}")
    assert drawn["name"] == kind.name
    assert ("figure" in drawn) != ("reason" in drawn)


def test_what_is_not_finite_is_null_in_a_figure(site):
    spec = make_spec({"lr": [0.1]}, name="lr_bs")
    study = SnapshotBuilder(spec).complete(0.5, None, 0.7, lr=0.1).pruned(0.4, lr=0.1).build()
    fill_store(site.url, study)
    for kind in GALLERY:
        site.json(f"/compare/lr_bs/figures/{kind.name}")


@pytest.mark.parametrize("table", ["trials", "epochs", "attempts"])
def test_a_downloaded_table_is_the_one_that_the_command_writes(filled, table):
    with open_store(filled.url, create=False) as store:
        snapshot = store.snapshot(store.study("lr_bs").id)
    status, headers, text = filled.ask(f"/compare/lr_bs/export.csv?table={table}")
    assert (status, text.encode()) == (200, to_csv(table_of([snapshot], table)))
    assert headers["Content-Disposition"] == f'attachment; filename="{table}.csv"'
    by = filled.text("/compare/lr_bs/export.csv?by=batch_size")
    assert by.encode() == to_csv(by_table([snapshot], "batch_size"))


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("", [5, 4, 3, 2, 1, 0]),
        ("?state=complete", [5, 4, 1, 0]),
        ("?state=pruned&state=failed", [3, 2]),
        ("?p.optimizer=adam", [3, 1]),
        ("?p.batch_size=64&p.batch_size=128&state=complete", [5, 0]),
        ("?p.lr=0.05..", [5, 4, 3, 0]),
        ("?p.lr=..0.01", [2, 1]),
        ("?p.lr=0.01..0.1", [5, 4, 3, 2, 1, 0]),
        ("?p.batch_size=32&p.batch_size=100..", [4, 1, 0]),
        ("?p.batch_size=..40&p.batch_size=100..", [4, 1, 0]),
        ("?trial=2&trial=4", [4, 2]),
        ("?sort=batch_size&state=complete", [1, 4, 5, 0]),
        ("?sort=-test_accuracy&state=complete", [1, 5, 0, 4]),
        ("?sort=nothing_like_it", [5, 4, 3, 2, 1, 0]),
        ("?page=99", [5, 4, 3, 2, 1, 0]),
    ],
)
def test_a_filter_and_an_order_choose_the_trials(filled, query, left):
    assert trials_in(filled, query) == left


@pytest.mark.parametrize(
    "word", ["0.001..0.1", "..0.05", "0.1", "0.05..", "7", "0.1..0.2"], ids=lambda word: word
)
@pytest.mark.parametrize("num_values", [1, 3, 9, 14])
def test_what_the_address_asks_for_stands_in_the_form(site, word, num_values):
    spec = make_spec({"lr": [0.1], "kind": ["a"]}, name="lr_bs")
    builder = SnapshotBuilder(spec)
    for index in range(num_values):
        builder.complete(0.5, lr=0.1 + index, kind=f"0..{index}")
    fill_store(site.url, builder.build())
    form = Form(site.text(f"/compare/lr_bs?p.lr={word}&p.kind=0..2&p.kind=7"))
    assert sorted(form.values["p.kind"]) == ["0..2", "7"]
    assert form.values["p.lr"] == [word]
    assert Form(site.text("/compare/lr_bs")).values == {}


class Form(HTMLParser):
    """What the filter of a page asks for, as its script reads it."""

    def __init__(self, page):
        super().__init__()
        self.values = {}
        self._ends = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag != "input":
            return
        if "data-range" in given:
            self._ends.append(given["value"])
            if len(self._ends) == 2 and any(self._ends):
                self.values.setdefault(given["data-range"], []).append("..".join(self._ends))
            self._ends = self._ends[:1] if len(self._ends) < 2 else []
        elif "checked" in given or given["type"] == "hidden":
            self.values.setdefault(given["name"], []).append(given["value"])


def test_a_choice_that_looks_like_a_range_is_found_by_its_name(site):
    spec = make_spec({"kind": ["0..1", "..", ""]}, name="lr_bs")
    builder = SnapshotBuilder(spec)
    for kind in ("0..1", "..", ""):
        builder.complete(0.5, kind=kind)
    fill_store(site.url, builder.build())
    assert trials_in(site, "?p.kind=0..1") == [0]
    assert trials_in(site, "?p.kind=..") == [1]
    assert trials_in(site, "?p.kind=''") == [2]


def test_what_has_no_value_is_last_whichever_way_trials_are_sorted(filled):
    assert trials_in(filled, "?sort=test_accuracy")[-1] == 3
    assert trials_in(filled, "?sort=-test_accuracy")[-1] == 3


def test_a_filter_reaches_the_figures_and_the_tables_by_param(filled):
    drawn = filled.json("/compare/lr_bs/figures/history?state=complete&p.optimizer=sgd")
    points = [
        point[0] for trace in drawn["figure"]["data"] for point in trace.get("customdata", [])
    ]
    assert sorted(points) == [0, 4, 5]
    assert "By optimizer" not in filled.text("/compare/lr_bs/tables?p.optimizer=sgd")


def test_many_trials_come_a_hundred_at_a_time(site):
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}, name="lr_bs"))
    for _ in range(230):
        builder.complete(0.5, lr=0.1)
    fill_store(site.url, builder.build())
    assert trials_in(site) == list(range(229, 129, -1))
    assert trials_in(site, "?page=3") == list(range(29, -1, -1))
    assert "page 3 of 3" in site.text("/compare/lr_bs/tables?page=3")


@pytest.mark.parametrize(
    ("target", "status", "words", "back"),
    [
        ("/compare/lr_ps", 404, "did you mean 'lr_bs'?", "/"),
        ("/compare/lr_bs/trials/77", 404, "no trial 77; it has 0 to 5", "/compare/lr_bs"),
        ("/compare/lr_bs?state=done", 400, "no state 'done'", "/compare/lr_bs"),
        ("/compare/lr_bs?p.momentum=1", 400, "no param 'momentum'", "/compare/lr_bs"),
        ("/compare/lr_bs?trial=x", 400, "'x' is no number of a trial", "/compare/lr_bs"),
        ("/compare/lr_bs/tables?page=0", 400, "'0' is no page", "/compare/lr_bs"),
        ("/compare/lr_bs/export.csv?table=x", 400, "no table 'x'", "/compare/lr_bs"),
        ("/compare/lr_bs/export.csv?by=x", 400, "compare by one of", "/compare/lr_bs"),
        ("/compare/LR_BS", 404, "no study 'LR_BS'; did you mean 'lr_bs'?", "/"),
        ("/compare/lr_ps/trials", 404, "no study 'lr_ps/trials'", "/"),
        ("/compare/lr_bs/trials/-1", 404, "'lr_bs' has no page 'trials/-1'", "/compare/lr_bs"),
        ("/compare/lr_bs/trial/1/", 404, "'lr_bs' has no page 'trial/1'", "/compare/lr_bs"),
        ("/compare/lr_bs/epochs", 404, "'lr_bs' has no page 'epochs'", "/compare/lr_bs"),
        ("/compare/", 404, "no such page", "/"),
        ("/nothing", 404, "no such page", "/"),
        ("/%FF", 404, "no such page", "/"),
        ("/assets/x/../../server.py", 404, "no such page", "/"),
        ("/assets/x/server.py", 404, "no file server.py", "/"),
    ],
)
def test_what_is_not_there_is_said_with_a_way_back(filled, target, status, words, back):
    found, headers, text = filled.ask(target)
    assert (found, headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert words in unescape(text)
    assert f'<p><a href="{back}">' in text


@pytest.mark.parametrize("target", ["/compare/lr_bs", "/compare/lr_bs/trials/3"])
def test_a_slash_at_the_end_of_a_path_says_nothing(filled, target):
    assert filled.text(f"{target}/") == filled.text(target)


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("/compare/lr_bs/trials.csv", "/compare/lr_bs/export.csv?table=trials"),
        ("/compare/lr_bs/epochs.csv", "/compare/lr_bs/export.csv?table=epochs"),
        ("/compare/lr_bs/attempts.csv", "/compare/lr_bs/export.csv?table=attempts"),
        ("/compare/lr_bs/trials", "/compare/lr_bs#trials"),
        ("/compare/lr_bs/trials/", "/compare/lr_bs#trials"),
    ],
)
def test_a_table_asked_for_by_its_name_is_led_to(filled, target, place):
    status, headers, _ = filled.ask(target)
    assert (status, headers["Location"]) == (303, place)


def test_a_figure_that_there_is_not_is_refused_in_json(filled):
    status, headers, text = filled.ask("/compare/lr_bs/figures/lrr")
    assert (status, headers["Content-Type"]) == (400, "application/json; charset=utf-8")
    assert "did you mean lr" in json.loads(text)["error"]


def test_a_poll_differs_once_a_trial_or_an_epoch_is_stored_and_only_then(filled):
    def version():
        return filled.json("/compare/lr_bs/state.json")["version"]

    before = version()
    assert version() == before
    with open_store(filled.url, create=False) as store:
        study = store.study("lr_bs")
        with store.lead(study.id, this_process(), 60) as leadership:
            led = version()
            leadership.add_trial(NewTrial(number=6, params={"lr": 0.1}, seed=0, space_version=1))
            added = version()
            leadership.start_attempt(6, PLACE)
            started = version()
            assert "Running now" in filled.text("/compare/lr_bs/overview")
    assert len({before, led, added, started, version()}) == 5
    assert trials_in(filled)[0] == 6


def test_more_studies_than_are_kept_at_a_glance_are_not_read_anew_for_their_list(
    site, monkeypatch
):
    monkeypatch.setattr(cache, "MAX_GLANCES", 2)
    library = Library(site.source)
    for number in range(4):
        fill_store(site.url, named_study(f"study {number}"))
    assert len(library.standings()) == 4
    monkeypatch.setattr(Store, "outline", lambda *_: pytest.fail("a study is read again"))
    assert [each.study.name for each in library.standings()] == [f"study {n}" for n in range(4)]


def test_the_time_of_a_study_that_runs_goes_on_between_its_epochs(filled, monkeypatch):
    def shown():
        return filled.library.glance("lr_bs").summary, filled.library.standings()[0].summary

    with open_store(filled.url, create=False) as store:
        study = store.study("lr_bs")
        with store.lead(study.id, this_process(), 60) as leadership:
            leadership.add_trial(NewTrial(number=6, params={"lr": 0.1}, seed=0, space_version=1))
            leadership.start_attempt(6, PLACE)
            before = shown()
            later = clock.utc_now() + timedelta(hours=1)
            monkeypatch.setattr(clock, "utc_now", lambda: later)
            after = shown()
            assert "data-growing" in filled.text("/compare/lr_bs/overview")
            assert "data-growing" in filled.text("/overview")
    for old, new in zip(before, after, strict=True):
        assert new.elapsed_s - old.elapsed_s == pytest.approx(3600, abs=60)
    assert "data-growing" not in filled.text("/compare/lr_bs/overview")
    assert "data-growing" not in filled.text("/overview")


def test_only_what_has_changed_is_read_again(filled, monkeypatch):
    trials_in(filled)
    asked = []
    ask_some = Store.epochs_of
    monkeypatch.setattr(
        Store,
        "epochs_of",
        lambda self, study, some: asked.append(some) or ask_some(self, study, some),
    )
    monkeypatch.setattr(Store, "epochs", lambda *_: pytest.fail("all epochs are read again"))
    with open_store(filled.url, create=False) as store:
        study = store.study("lr_bs")
        with store.lead(study.id, this_process(), 60) as leadership:
            leadership.add_trial(NewTrial(number=6, params={"lr": 0.1}, seed=0, space_version=1))
            leadership.start_attempt(6, PLACE)
            leadership.store_epoch(replace(store.snapshot(study.id).epochs[0], trial=6))
            leadership.finish_trial(
                trial=6, attempt=1, state=TrialState.COMPLETE, value=0.5, cause=None, message=None
            )
        assert trials_in(filled)[0] == 6
        assert asked == [{6}]
        kept = filled.library.snapshot("lr_bs")
        assert kept == store.snapshot(study.id)


def test_after_each_change_the_pages_know_what_the_store_knows(filled):
    with open_store(filled.url, create=False) as store:
        study = store.study("lr_bs")
        sample = store.snapshot(study.id).epochs[0]

        def check():
            assert filled.library.snapshot("lr_bs") == store.snapshot(study.id)
            part = filled.library.part("lr_bs", {})
            assert list(part.rows) == trial_rows(store.snapshot(study.id))

        with store.lead(study.id, this_process(), 60) as leadership:

            def start():
                leadership.start_attempt(6, PLACE)

            def epoch(number, attempt, value):
                metrics = {"test_accuracy": value}
                leadership.store_epoch(
                    replace(sample, trial=6, epoch=number, attempt=attempt, metrics=metrics)
                )

            def finish():
                leadership.finish_trial(
                    trial=6,
                    attempt=2,
                    state=TrialState.COMPLETE,
                    value=0.3,
                    cause=None,
                    message=None,
                )

            for change in (
                lambda: leadership.add_trial(
                    NewTrial(number=6, params={"lr": 1.0}, seed=0, space_version=1)
                ),
                start,
                lambda: epoch(0, 1, 0.1),
                lambda: epoch(1, 1, 0.2),
                lambda: leadership.interrupt(trial=6, attempt=1, cause=Cause.LOST),
                start,
                lambda: epoch(1, 2, 0.3),  # the same number of epochs, another value
                finish,
            ):
                change()
                check()


def test_a_study_that_was_deleted_and_made_anew_is_not_taken_for_the_old_one(filled):
    assert trials_in(filled) == [5, 4, 3, 2, 1, 0]
    with closing(sqlite3.connect(filled.url.removeprefix("sqlite:///"))) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM sweep_studies")
        connection.commit()
    assert filled.ask("/compare/lr_bs")[0] == 404
    fill_store(filled.url, named_study("lr_bs"))
    assert trials_in(filled) == [1, 0]


def test_a_database_that_is_gone_is_said_and_one_that_came_back_is_shown(filled, tmp_path):
    folder = tmp_path / "runs"
    assert filled.ask("/")[0] == 200
    folder.rename(tmp_path / "away")
    for target in ("/", "/compare/lr_bs", "/dashboard", "/api/studies"):
        status, _, text = filled.ask(target)
        assert status == 503
        assert "is gone or out of reach" in text
        assert "Traceback" not in text
    assert "error" in json.loads(filled.ask("/compare/lr_bs/state.json")[2])
    shutil.copytree(tmp_path / "away", folder)
    assert trials_in(filled) == [5, 4, 3, 2, 1, 0]
    fill_store(filled.url, named_study("only in the one that came back"))
    assert "only in the one that came back" in filled.text("/")


def test_a_database_that_is_locked_is_said_within_seconds(filled, tmp_path):
    filled.text("/")
    filled.source.close()
    with closing(sqlite3.connect(tmp_path / "runs" / "sweep.db")) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        before_s = time.monotonic()
        status, _, text = filled.ask("/compare/lr_bs")
        assert time.monotonic() - before_s < 10
        assert status == 503
        assert "another process kept it locked" in text
        assert 'http-equiv="refresh"' in text
    assert filled.ask("/compare/lr_bs")[0] == 200


def test_without_optunas_tables_its_dashboard_says_when_they_come(filled):
    status, _, text = filled.ask("/dashboard")
    assert status == 404
    assert "the next `sweep run` makes them" in text


def test_a_bug_of_ours_is_a_page_and_its_traceback_is_in_the_log(filled, monkeypatch, caplog):
    monkeypatch.setattr(Library, "standings", lambda self: 1 / 0)
    status, _, text = filled.ask("/")
    assert status == 500
    assert "a bug in sweep: ZeroDivisionError" in text
    assert "Traceback" not in text
    assert "ZeroDivisionError" in caplog.text


def test_our_pages_allow_nothing_from_elsewhere_and_are_not_kept(filled):
    headers = filled.ask("/compare/lr_bs")[1]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert headers["Cache-Control"] == "no-store"


def test_an_asset_is_kept_for_good_under_a_path_of_its_content(filled):
    page = filled.text("/compare/lr_bs")
    paths = {
        piece.partition('"')[0] for piece in page.split('="')[1:] if piece.startswith("/assets/")
    }
    assert {path.rpartition("/")[2] for path in paths} == {
        "report.css", "pages.css", "pages.js", "figures.js", "plotly.js", "icon.svg",
    }  # fmt: skip
    for path in paths:
        status, headers, text = filled.ask(path)
        assert (status, headers["Cache-Control"]) == (200, "private, max-age=31536000, immutable")
        assert text
    assert "http" not in page.replace("http-equiv", "")


def test_a_trial_shows_its_attempts_message_and_log_escaped_and_without_colours(site, tmp_path):
    snapshot = lr_batch_study()
    log = study_folder(tmp_path / "runs", "lr_bs", site.url).log(3, 1)
    log.parent.mkdir(parents=True)
    log.write_bytes("\x1b[31m<script>x</script>\x1b[0m 开始\n 10%\r100%\n\x07bell\n".encode())
    attempts = [
        make_attempt(trial, log=str(log) if trial.number == 3 else f"/etc/passwd{trial.number}")
        for trial in snapshot.trials
    ]
    fill_store(site.url, with_attempts(snapshot, *attempts))
    page = site.text("/compare/lr_bs/trials/3")
    assert "the loss was not finite in epoch 2" in page
    assert "<script>x" not in page
    text = unescape(site.text("/compare/lr_bs/trials/3/log"))
    assert "<script>x</script> 开始\n100%\nbell\n" in text
    assert "does not lie where a run puts it" in site.text("/compare/lr_bs/trials/2/log")


@pytest.mark.parametrize("is_written", [True, False])
def test_the_log_of_an_attempt_that_runs_is_marked_to_be_asked_for_again(
    site, tmp_path, is_written
):
    folder = study_folder(tmp_path / "runs", "lr_bs", site.url)
    spec = make_spec({"lr": [0.1]}, name="lr_bs")
    snapshot = SnapshotBuilder(spec).complete(0.5, lr=0.1).running(lr=0.1).build()
    attempts = [make_attempt(t, log=str(folder.log(t.number, 1))) for t in snapshot.trials]
    for attempt in attempts if is_written else ():
        Path(attempt.log).parent.mkdir(parents=True)
        Path(attempt.log).write_text("step 1\n")
    fill_store(site.url, with_attempts(snapshot, *attempts))
    for target in ("/compare/lr_bs/trials/1", "/compare/lr_bs/trials/1/log"):
        assert site.text(target).count('data-growing=""') == 1
    for target in ("/compare/lr_bs/trials/0", "/compare/lr_bs/trials/0/log"):
        assert "data-growing" not in site.text(target)
    assert site.text(f"/compare/lr_bs/trials/0/log?attempt={'9' * 5000}")


def test_the_page_of_an_excluded_trial_draws_its_curve(filled):
    with closing(sqlite3.connect(filled.url.removeprefix("sqlite:///"))) as connection:
        connection.execute("UPDATE sweep_trials SET excluded = 1 WHERE number = 0")
        connection.commit()
    drawn = filled.json("/compare/lr_bs/figures/curves?trial=0")
    assert drawn["figure"]["data"]
    points = filled.json("/compare/lr_bs/figures/curves")["figure"]["data"]
    assert 0 not in {told[0] for trace in points for told in trace["customdata"]}


def test_of_filtered_trials_a_timeline_does_not_say_how_much_slots_were_used(filled):
    assert "was used to" in filled.json("/compare/lr_bs/figures/timeline")["caption"]
    part = filled.json("/compare/lr_bs/figures/timeline?state=complete")
    assert "may have run others" in part["caption"]


def test_a_log_that_is_a_link_or_gone_is_not_read(site, tmp_path):
    snapshot = lr_batch_study()
    secret = tmp_path / "secret"
    secret.write_text("do not show")
    folder = study_folder(tmp_path / "runs", "lr_bs", site.url)
    folder.trial(0).mkdir(parents=True)
    folder.log(0, 1).symlink_to(secret)
    attempts = [make_attempt(t, log=str(folder.log(t.number, 1))) for t in snapshot.trials]
    fill_store(site.url, with_attempts(snapshot, *attempts))
    for number in (0, 1):
        text = site.text(f"/compare/lr_bs/trials/{number}/log")
        assert "cannot be read" in text
        assert "do not show" not in text


def test_of_a_long_log_the_end_is_shown(site, tmp_path):
    snapshot = lr_batch_study()
    log = study_folder(tmp_path / "runs", "lr_bs", site.url).log(0, 1)
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"line {number}\n" for number in range(50_000)))
    fill_store(
        site.url,
        with_attempts(snapshot, *[make_attempt(t, log=str(log)) for t in snapshot.trials[:1]],
                      *[make_attempt(t) for t in snapshot.trials[1:]]),
    )  # fmt: skip
    text = site.text("/compare/lr_bs/trials/0/log")
    assert "The last 64 KiB of" in text
    assert "line 49999" in text
    assert "line 10\n" not in text
    assert ">line " in text, "it begins with a whole line"


def test_gzip_is_for_who_asks_for_it(filled):
    status, headers, _ = filled.ask("/compare/lr_bs")
    assert (status, headers.get("Content-Encoding")) == (200, None)
    path = "/compare/lr_bs"
    environ = {"REQUEST_URI": path, "QUERY_STRING": "", "HTTP_ACCEPT_ENCODING": "gzip, br"}
    setup_testing_defaults(environ)
    found = {}
    body = b"".join(filled._pages(environ, lambda status, fields: found.update(dict(fields))))
    assert found["Content-Encoding"] == "gzip"
    assert int(found["Content-Length"]) == len(body)
    for refused in ("gzip;q=0", "br, gzip; q=0.0", "identity"):
        found.clear()
        asked = {**environ, "HTTP_ACCEPT_ENCODING": refused}
        list(filled._pages(asked, lambda status, fields: found.update(dict(fields))))
        assert "Content-Encoding" not in found


def test_a_quoted_name_in_a_query_is_no_way_in(filled):
    query = quote('"><script>alert(1)</script>')
    status, _, text = filled.ask(f"/compare/lr_bs?p.optimizer={query}")
    assert status == 200
    assert "<script>alert" not in text
    assert "<script>alert" not in filled.ask(f"/compare/{query}")[2]

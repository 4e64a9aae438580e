"""Our own pages in a real browser: figures, live rows, filters, downloads, and the token."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from sweep.coordinator.folders import study_folder
from sweep.coordinator.holder import this_process
from sweep.dashboard.assets import asset_path
from sweep.records import TrialState
from sweep.store.entries import NewTrial
from sweep.store.store import open_store
from sweep.views.figures.bars import timeline_figure
from sweep.views.series.subject import subject_of
from sweep.views.series.timeline import timeline_series
from tests.chromium import DEADLINE_MS, dashboard, keep_screenshot
from tests.console_script import answered
from tests.filled_store import PLACE, fill_store
from tests.snapshots import (
    START,
    SnapshotBuilder,
    lr_batch_study,
    make_attempt,
    make_spec,
    seconds,
    with_attempts,
)

TOKEN = "0123456789abcdef-token"
CHINESE = "学习率/批大小 “对比” <b>"
COUNT_POINTS = """figure => figure.querySelector('.plot').data
    .filter(trace => trace.mode === 'markers')
    .reduce((count, trace) => count + trace.x.length, 0)"""
POINT_AT = """figure => {
    const plot = figure.querySelector('.plot');
    const layout = plot._fullLayout;
    const trace = plot.data[0];
    const box = plot.getBoundingClientRect();
    return {
        trial: trace.customdata[0][0],
        x: box.left + layout.xaxis._offset + layout.xaxis.d2p(trace.x[0]),
        y: box.top + layout.yaxis._offset + layout.yaxis.d2p(trace.y[0]),
    };
}"""


def fill(url: str) -> None:
    fill_store(url, lr_batch_study())
    spec = make_spec({"lr": [0.1, 0.01]}, name=CHINESE)
    fill_store(url, SnapshotBuilder(spec).complete(0.5, lr=0.1).complete(0.6, lr=0.01).build())
    fill_store(url, SnapshotBuilder(make_spec({"lr": [0.1]}, name="empty")).build())


@pytest.fixture
def url(sqlite_url) -> str:
    fill(sqlite_url)
    return sqlite_url


@pytest.fixture
def address(url) -> Iterator[str]:
    with dashboard(url) as address:
        yield address


@pytest.fixture
def watched(page) -> Iterator[Page]:
    """A page that must neither log an error nor ask anybody but its own server."""
    errors: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    yield page
    assert errors == []
    urls = [urlsplit(each) for each in asked]
    hosts = {each.netloc for each in urls if each.scheme not in ("data", "blob")}
    assert hosts == {urlsplit(page.url).netloc}


def drawn(page: Page, name: str):
    """The figure of that name, scrolled to and drawn."""
    figure = page.locator(f"#figure-{name}")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".main-svg").first).to_be_visible(timeout=DEADLINE_MS)
    return figure


def points_in(page: Page, name: str) -> int:
    return drawn(page, name).evaluate(COUNT_POINTS)


def wait_for_points(page: Page, name: str, count: int) -> None:
    figure = f"document.querySelector('#figure-{name}')"
    page.wait_for_function(f"() => ({COUNT_POINTS})({figure}) === {count}")


def trials_of(page: Page) -> list[str]:
    return page.locator("#trials ~ .scroll tbody tr td:first-child").all_text_contents()


def expect_trials(page: Page, numbers: list[str]) -> None:
    cells = page.locator("#trials ~ .scroll tbody tr td:first-child")
    expect(cells).to_have_text(numbers, timeout=DEADLINE_MS)


def test_the_start_page_leads_to_a_study_and_back(watched, address):
    watched.goto(address)
    expect(watched.get_by_role("link", name="empty")).to_be_visible()
    keep_screenshot(watched, "start")
    watched.get_by_role("link", name="lr_bs").click()
    expect(watched.get_by_role("heading", name="lr_bs", exact=True)).to_be_visible()
    watched.get_by_role("link", name="Studies").click()
    expect(watched.get_by_role("heading", name="Studies")).to_be_visible()


def test_the_figures_have_a_point_for_each_trial_with_a_value(watched, address):
    watched.goto(f"{address}/compare/lr_bs")
    assert points_in(watched, "lr") == 5
    assert points_in(watched, "history") == 6
    for name in ("batch_size", "optimizer", "curves", "contour", "trade_offs", "timeline"):
        drawn(watched, name)
    expect(watched.locator("#figure-importance")).to_contain_text("it takes 10 complete trials")
    assert trials_of(watched) == ["5", "4", "3", "2", "1", "0"]
    keep_screenshot(watched, "compare")


def test_a_point_leads_to_its_trial(watched, address):
    watched.goto(f"{address}/compare/lr_bs")
    point = drawn(watched, "lr").evaluate(POINT_AT)
    watched.mouse.move(point["x"], point["y"])
    watched.mouse.click(point["x"], point["y"])
    watched.wait_for_url(f"**/compare/lr_bs/trials/{point['trial']}")
    expect(watched.get_by_role("heading", name=f"Trial {point['trial']}")).to_be_visible()
    expect(watched.get_by_role("heading", name="Log")).to_be_visible()
    drawn(watched, "curves")
    keep_screenshot(watched, "trial")


def test_points_lead_to_their_trials_also_after_a_filter_left_none(watched, address):
    watched.goto(f"{address}/compare/lr_bs")
    drawn(watched, "lr")
    watched.locator("label", has_text="waiting").click()
    expect(watched.locator("#figure-lr")).to_contain_text("Nothing to draw")
    watched.get_by_role("button", name="show all").click()
    watched.wait_for_function("() => document.querySelector('#figure-lr .plot').data?.length")
    point = drawn(watched, "lr").evaluate(POINT_AT)
    watched.mouse.move(point["x"], point["y"])
    watched.mouse.click(point["x"], point["y"])
    watched.wait_for_url(f"**/compare/lr_bs/trials/{point['trial']}")


def test_a_bar_of_the_timeline_tells_how_long_it_took_when_it_is_pointed_at(watched, sqlite_url):
    with open_store(sqlite_url, create=True):
        pass
    with dashboard(sqlite_url) as address:
        watched.goto(address)
        watched.add_script_tag(url=asset_path("plotly.js"))
        figure = timeline_of_five_minutes()
        watched.evaluate(
            """figure => {
                const plot = document.createElement('div');
                document.querySelector('main').replaceChildren(plot);
                return Plotly.newPlot(plot, figure.data, {...figure.layout, width: 900})
                    .then(() => Plotly.Fx.hover(plot, [{curveNumber: 0, pointNumber: 0}]));
            }""",
            figure,
        )
        expect(watched.locator(".hovertext")).to_contain_text("from 40 min, for 5 min")


def timeline_of_five_minutes() -> dict:
    """A slot that ran trial 1 from minute 40 to minute 45."""
    spec = make_spec({"lr": [0.1]})
    snapshot = SnapshotBuilder(spec).complete(0.5, lr=0.1).complete(0.6, lr=0.1).build()
    spans = [(0, 60), (2400, 2700)]
    attempts = [
        make_attempt(trial, started_at=START + seconds(begin), finished_at=START + seconds(end))
        for trial, (begin, end) in zip(snapshot.trials, spans, strict=True)
    ]
    series = timeline_series(subject_of(with_attempts(snapshot, *reversed(attempts))))
    figure = json.loads(timeline_figure(series).to_json())
    bars = figure["data"][0]
    for key in ("base", "x", "y", "customdata"):
        bars[key] = bars[key][1:]
    return figure


def test_the_log_of_an_attempt_that_runs_is_followed_between_its_epochs(
    watched, sqlite_url, tmp_path
):
    log = study_folder(tmp_path / "runs", "lr_bs", sqlite_url).log(0, 1)
    log.parent.mkdir(parents=True)
    log.write_text("step 1\n")
    spec = make_spec({"lr": [0.1]}, name="lr_bs")
    snapshot = SnapshotBuilder(spec).running(lr=0.1).build()
    attempt = make_attempt(snapshot.trials[0], log=str(log))
    fill_store(sqlite_url, with_attempts(snapshot, attempt))
    with dashboard(sqlite_url) as address:
        watched.goto(f"{address}/compare/lr_bs/trials/0")
        expect(watched.locator(".log")).to_have_text("step 1\n")
        expect(watched.locator("#live")).to_have_text("live")
        log.write_text("step 1\nstep 2\n")
        expect(watched.locator(".log")).to_have_text("step 1\nstep 2\n")
        watched.evaluate("getSelection().selectAllChildren(document.querySelector('.log'))")
        log.write_text("step 1\nstep 2\nstep 3\n")
        for _ in range(2):
            with watched.expect_response("**/state.json"):
                pass
        assert watched.evaluate("getSelection().toString()").split("\n")[:2] == [
            "step 1",
            "step 2",
        ]
        expect(watched.locator(".log")).to_have_text("step 1\nstep 2\n")
        watched.evaluate("getSelection().removeAllRanges()")
        expect(watched.locator(".log")).to_have_text("step 1\nstep 2\nstep 3\n")


def test_a_filter_leaves_fewer_points_rows_and_an_address_to_share(watched, address):
    watched.goto(f"{address}/compare/lr_bs")
    assert points_in(watched, "lr") == 5
    watched.locator("label", has_text="sgd").click()
    watched.locator("label", has_text="complete").click()
    expect_trials(watched, ["5", "4", "0"])
    figure = watched.locator("#figure-lr")
    figure.scroll_into_view_if_needed()
    watched.wait_for_function(
        f"() => ({COUNT_POINTS})(document.querySelector('#figure-lr')) === 3"
    )
    assert watched.url.endswith("?state=complete&p.optimizer=sgd")
    watched.reload()
    expect_trials(watched, ["5", "4", "0"])
    watched.get_by_role("button", name="show all").click()
    expect_trials(watched, ["5", "4", "3", "2", "1", "0"])
    assert urlsplit(watched.url).query == ""


def test_trials_are_sorted_by_the_column_that_is_pressed(watched, address):
    watched.goto(f"{address}/compare/lr_bs?state=complete")
    watched.locator("#trials ~ .scroll th button", has_text="epoch_s").wait_for()
    column = watched.locator("[data-sort=test_accuracy]")
    column.click()
    expect_trials(watched, ["4", "0", "1", "5"])
    watched.locator("[data-sort='-test_accuracy']").click()
    expect_trials(watched, ["1", "5", "0", "4"])


def test_a_row_and_a_point_appear_while_one_looks(watched, address, url):
    watched.goto(f"{address}/compare/lr_bs")
    assert points_in(watched, "history") == 6
    with open_store(url, create=False) as store:
        study = store.study("lr_bs")
        with store.lead(study.id, this_process(), 60) as leadership:
            params = {"optimizer": "sgd", "batch_size": 64, "lr": 0.1}
            leadership.add_trial(NewTrial(number=6, params=params, seed=0, space_version=1))
            leadership.start_attempt(6, PLACE)
            expect(watched.get_by_role("heading", name="Running now")).to_be_visible()
            expect_trials(watched, ["6", "5", "4", "3", "2", "1", "0"])
            leadership.finish_trial(
                trial=6, attempt=1, state=TrialState.COMPLETE, value=0.9, cause=None, message=None
            )
    wait_for_points(watched, "history", 7)
    expect(watched.locator("#live")).to_have_text("live")


@pytest.mark.parametrize("table", ["trials", "epochs", "attempts"])
def test_a_download_has_the_bytes_of_the_command(watched, address, url, tmp_path, table):
    watched.goto(f"{address}/compare/lr_bs")
    with watched.expect_download() as started:
        watched.get_by_role("link", name=f"{table}.csv").click()
    answered(
        tmp_path, "export", "--study", "lr_bs", "--table", table, "--storage", url, "-o", "t.csv"
    )
    assert Path(started.value.path()).read_bytes() == (tmp_path / "t.csv").read_bytes()
    assert started.value.suggested_filename == f"{table}.csv"


def test_a_name_with_a_slash_quotes_and_tags_is_shown_as_it_is(watched, address):
    watched.goto(address)
    watched.get_by_role("link", name=CHINESE).click()
    expect(watched.get_by_role("heading", name=CHINESE)).to_be_visible()
    assert points_in(watched, "lr") == 2
    watched.locator("#trials ~ .scroll a").first.click()
    expect(watched.get_by_role("heading", name="Trial 1")).to_be_visible()
    keep_screenshot(watched, "chinese")


def test_a_study_without_trials_says_what_it_lacks(watched, address):
    watched.goto(f"{address}/compare/empty")
    expect(watched.get_by_text("No trial is complete yet")).to_be_visible()
    expect(watched.locator("#figure-lr")).to_contain_text("Nothing to draw")


@pytest.mark.parametrize("width", [700, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_the_window(watched, address, width, scheme):
    watched.emulate_media(color_scheme=scheme)
    watched.set_viewport_size({"width": width, "height": 900})
    pages = {"start": "/", "study": "/compare/lr_bs", "trial": "/compare/lr_bs/trials/3"}
    for name, path in pages.items():
        watched.goto(address + path, wait_until="networkidle")
        excess = "document.documentElement.scrollWidth - window.innerWidth"
        assert watched.evaluate(excess) <= 0
        keep_screenshot(watched, f"{name}-{width}-{scheme}")


def test_a_server_that_went_away_is_said(page, url):
    with dashboard(url) as address:
        page.goto(f"{address}/compare/lr_bs")
        expect(page.locator("#live")).to_have_text("live")
    expect(page.locator("#live")).to_contain_text("not updating", timeout=DEADLINE_MS)


def test_a_post_is_refused(watched, address):
    watched.goto(address)
    for path in ("/api/studies", "/compare/lr_bs", "/"):
        status = watched.request.post(address + path, data="{}").status
        assert status == 403


def test_without_the_token_nothing_is_shown_and_with_it_the_address_forgets_it(page, url):
    with dashboard(url, SWEEP_TOKEN=TOKEN) as address:
        assert TOKEN not in address
        for path in (
            "/",
            "/compare/lr_bs",
            "/compare/lr_bs/export.csv",
            "/api/studies",
            "/dashboard",
        ):
            assert page.goto(address + path).status == 401
        page.goto(f"{address}/compare/lr_bs?token={TOKEN}&state=complete")
        assert page.url == f"{address}/compare/lr_bs?state=complete"
        expect_trials(page, ["5", "4", "1", "0"])
        assert points_in(page, "lr") == 4


def test_beyond_loopback_a_token_is_made_and_opens_the_printed_address(page, url):
    with dashboard(url, "--host", "0.0.0.0") as printed:
        found = re.fullmatch(r"http://[^/]+:(\d+)/\?token=(\S+)", printed)
        assert found is not None
        here = f"http://127.0.0.1:{found[1]}"
        assert page.goto(here).status == 401
        page.goto(f"{here}/?token={found[2]}")
        expect(page.get_by_role("link", name="lr_bs")).to_be_visible()

"""A real browser shows the studies, changes nothing, and speaks to nobody else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.storages import RDBStorage
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SWEEP = Path(sys.executable).with_name("sweep")
DEADLINE_MS = 60_000

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def study_url(tmp_path_factory) -> str:
    """A database with one study of four trials: three complete, one pruned."""
    url = f"sqlite:///{tmp_path_factory.mktemp('browser') / 'sweep.db'}"
    storage = RDBStorage(url)
    study = optuna.create_study(
        storage=storage, study_name="digits-in-a-browser", direction="maximize"
    )
    space = {
        "lr": FloatDistribution(1e-4, 1.0, log=True),
        "batch_size": CategoricalDistribution([64, 128, 256]),
    }
    for final in (0.91, 0.94, 0.97, 0.35):
        trial = study.ask(space)
        for epoch in range(4):
            trial.report(final * (1 - 0.5 ** (epoch + 1)), epoch)
        if final < 0.5:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, final)
    storage.remove_session()
    storage.engine.dispose()
    return url


@pytest.fixture(scope="module")
def address(study_url) -> Iterator[str]:
    """Where the real command answers."""
    command = [SWEEP, "dashboard", "--port", "0", "--storage", study_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(DEADLINE_MS)
    yield page
    page.close()


def keep_screenshot(page: Page, name: str) -> None:
    """For people: the pages as they were, where SWEEP_SCREENSHOTS names a folder."""
    if folder := os.environ.get("SWEEP_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_the_first_page_lists_the_study(page, address):
    page.goto(address)
    expect(page.get_by_text("digits-in-a-browser").first).to_be_visible(timeout=DEADLINE_MS)
    keep_screenshot(page, "studies")


def test_a_study_shows_its_history_and_its_best_trial(page, address):
    page.goto(f"{address}/dashboard/studies/1")
    expect(page.get_by_text("0.97").first).to_be_visible(timeout=DEADLINE_MS)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=DEADLINE_MS)
    keep_screenshot(page, "study")


def test_the_list_of_trials_shows_every_trial_and_its_params(page, address):
    page.goto(f"{address}/dashboard/studies/1/trials")
    for number in range(4):
        entry = page.get_by_text(f"Trial {number}", exact=False).first
        expect(entry).to_be_visible(timeout=DEADLINE_MS)
    expect(page.get_by_text("batch_size").first).to_be_visible(timeout=DEADLINE_MS)
    keep_screenshot(page, "trials")


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_a_script_in_the_page_cannot_change_anything(page, address, study_url, method):
    page.goto(address)
    status = page.evaluate(
        "([url, method]) => fetch(url, {method, body: '{}'}).then(answer => answer.status)",
        [f"{address}/api/studies/1", method],
    )
    assert status == 403


def test_no_request_leaves_this_machine_and_no_error_is_logged(page, address):
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for path in ("", "/dashboard/studies/1", "/dashboard/studies/1/analytics"):
        page.goto(address + path, wait_until="networkidle")
    addressed = {
        urlsplit(url).netloc for url in asked if urlsplit(url).scheme not in ("data", "blob")
    }
    assert addressed == {urlsplit(address).netloc}
    assert errors == []


def test_a_page_of_another_origin_cannot_show_the_dashboard_in_a_frame(page, address):
    page.set_content(f'<iframe src="{address}/dashboard"></iframe>')
    page.wait_for_function("window.frames.length === 1")
    frame = page.frames[-1]
    frame.wait_for_load_state()
    assert frame.url.startswith("chrome-error:")

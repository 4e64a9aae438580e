"""Optuna's pages in a real browser: they work, change nothing, and speak to nobody else."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.storages import RDBStorage
from playwright.sync_api import expect

from tests.chromium import DEADLINE_MS, dashboard, keep_screenshot


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
    with dashboard(study_url) as address:
        yield address


def test_the_first_page_lists_the_study(page, address):
    page.goto(f"{address}/dashboard")
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
    for path in ("/dashboard", "/dashboard/studies/1", "/dashboard/studies/1/analytics"):
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

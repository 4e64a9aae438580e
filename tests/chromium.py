"""A real Chromium, and the real command whose pages it opens."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page

from tests.console_script import SWEEP, environment

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DEADLINE_MS = 60_000


@contextmanager
def dashboard(url: str, *flags: str, **changes: str) -> Iterator[str]:
    """Where the real command answers, as it says itself."""
    command = [SWEEP, "dashboard", "--port", "0", "--storage", url, *flags]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(**changes)
    ) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def keep_screenshot(page: Page, name: str) -> None:
    """For people: the pages as they were, where SWEEP_SCREENSHOTS names a folder."""
    if folder := os.environ.get("SWEEP_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

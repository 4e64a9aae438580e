"""A run whose disk fills up under it: a small file system of its own, filled and emptied again."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from sweep.store.store import open_store
from tests.process.commands import sweep, sweep_run, wait_for_line, wait_until

STUDY = """\
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {quality: {type: float, low: 0.1, high: 0.9}}
training: {epochs: 4}
search: {sampler: random}
budget: {trials: 8}
"""
TRAIN = """\
import time


def train(params, device, state=None):
    done = 0 if state is None else state["done"]
    for epoch in range(done, params["epochs"]):
        time.sleep(0.2)
        print("x" * 1000)
        yield {"test_accuracy": params["quality"]}, {"done": epoch + 1, "ballast": b"x" * 200_000}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a study file, its runs on a disk of 8 MiB."""
    (tmp_path / "mine.yaml").write_text(STUDY)
    (tmp_path / "mine.py").write_text(dedent(TRAIN))
    disk = tmp_path / "runs"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb") as file:
        try:
            while file.write(b"x" * 65536):
                file.flush()
        except OSError:
            pass
    return filler


def _wait_until_told(folder: Path) -> None:
    """Which of them meets the full disk first, the database or a checkpoint, is chance."""
    story = folder / "story.txt"
    words = ("the disk is full", "No space left")
    wait_until("a full disk", lambda: any(each in story.read_text() for each in words), folder)


def test_a_full_disk_is_waited_for_and_nothing_is_lost(folder: Path) -> None:
    with sweep_run(folder, "--study", "mine.yaml", "--cpu", "2") as process:
        wait_for_line("complete", folder)
        filler = _fill(folder / "runs")
        _wait_until_told(folder)
        filler.unlink()
        assert process.wait(60) == 0
    answer = sweep(folder, "export", "--study", "mine", "--format", "json").stdout
    trials = json.loads(answer)
    assert [row["state"] for row in trials] == ["complete"] * 8
    assert [row["epochs"] for row in trials] == [4] * 8


def test_ctrl_c_ends_a_run_that_waits_for_room(folder: Path) -> None:
    with sweep_run(folder, "--study", "mine.yaml", "--cpu", "2") as process:
        wait_for_line("complete", folder)
        _fill(folder / "runs")
        _wait_until_told(folder)
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 130


def test_a_backup_onto_a_full_disk_names_the_file_that_has_no_room(folder: Path) -> None:
    open_store(f"sqlite:///{folder}/here.db", create=True).close()
    filler = _fill(folder / "runs")
    target = folder / "runs" / "copy.db"
    done = sweep(folder, "storage", "backup", "--storage", "sqlite:///here.db", "-o", str(target))
    assert (done.returncode, done.stderr) == (
        4,
        f"error: {target} cannot be written (no space left on device); name another file\n",
    )
    assert list((folder / "runs").iterdir()) == [filler]

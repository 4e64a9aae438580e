"""What a run writes is for its user alone, or for the group that was asked for; links end it."""

import os
import stat
from pathlib import Path

import pytest

from sweep.notebook.running import run as from_python
from tests.console_script import answered, sweep

OWN = """\
def train(params, device, state=None):
    for epoch in range(2):
        yield {"test_accuracy": 0.5}, {"epoch": epoch}
"""
STUDY = """\
study: small
train: ./own.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.1, 0.2]}}
training: {epochs: 2}
"""
RUN = ("run", "--study", "small.yaml", "--cpu", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "small.yaml").write_text(STUDY)
    return tmp_path


def run(folder: Path, *arguments: str) -> None:
    done = sweep(folder, *RUN, *arguments, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 0, done.stderr


def modes(folder: Path) -> dict[str, set[int]]:
    """The modes of all that lies in the run folder, itself too, by what it is."""
    found: dict[str, set[int]] = {"folder": set(), "file": set()}
    for path in (folder / "runs", *(folder / "runs").rglob("*")):
        kind = "folder" if path.is_dir() else "file"
        found[kind].add(stat.S_IMODE(path.lstat().st_mode))
    return found


def test_by_default_nobody_else_reads_what_a_run_writes(folder):
    run(folder)
    assert modes(folder) == {"folder": {0o700}, "file": {0o600}}
    (backup,) = (sweep(folder, "storage", "backup"),)
    assert backup.returncode == 0
    assert modes(folder)["file"] == {0o600}


def test_a_shared_run_is_the_groups_too_and_what_was_there_before(folder):
    run(folder, "--trials", "1")
    run(folder, "--share", "group")
    found = modes(folder)
    assert found["file"] == {0o660}
    assert all(mode & 0o070 == 0o070 and not mode & 0o007 for mode in found["folder"])
    assert stat.S_IMODE((folder / "runs").stat().st_mode) == 0o2770


def test_a_study_that_is_shared_stays_so_in_later_runs(folder):
    run(folder, "--trials", "1", "--share", "group")
    run(folder, "--add-trials", "1")
    found = modes(folder)
    assert found["file"] == {0o660}
    assert all(mode & 0o070 == 0o070 and not mode & 0o007 for mode in found["folder"])


def test_a_folder_that_hands_its_group_down_shares_nothing_by_itself(folder):
    (folder / "runs").mkdir()
    (folder / "runs").chmod(0o2750)
    run(folder, "--trials", "1")
    run(folder, "--add-trials", "1")
    assert modes(folder)["file"] == {0o600}
    assert stat.S_IMODE((folder / "runs" / "small").stat().st_mode) == 0o2700


@pytest.mark.parametrize(
    ("share", "mode"), [((), 0o600), (("--share", "group"), 0o660)], ids=["own", "shared"]
)
def test_a_run_from_python_writes_for_whom_the_command_does(folder, monkeypatch, share, mode):
    run(folder, "--trials", "1", *share)
    monkeypatch.chdir(folder)
    before = os.umask(0o022)
    try:
        from_python("small.yaml", cpu=1, add_trials=1)
    finally:
        assert os.umask(before) == 0o022, "the caller's own files are as before"
    assert modes(folder)["file"] == {mode}


def test_what_a_user_asks_to_be_written_has_the_modes_of_the_umask(folder):
    run(folder)
    before = os.umask(0o022)
    try:
        answered(folder, "export", "--study", "small", "-o", "trials.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "trials.csv").stat().st_mode) == 0o644


def test_a_share_with_anybody_else_is_refused(folder):
    done = sweep(folder, *RUN, "--share", "world")
    assert (done.returncode, done.stderr) == (
        2,
        "error: --share is the text 'world'; it takes group\n",
    )


@pytest.mark.parametrize("place", ["small", "small/trials", "small/trials/00001"])
def test_a_link_in_the_studys_folder_is_not_followed(folder, place):
    outside = folder / "outside"
    outside.mkdir()
    link = folder / "runs" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    done = sweep(folder, *RUN)
    assert done.returncode == 4
    assert f"{link} is a symbolic link, which is not followed: remove it" in done.stderr
    assert list(outside.iterdir()) == []


def test_a_link_in_place_of_a_log_is_not_followed(folder):
    log = folder / "runs" / "small" / "trials" / "00000" / "attempt-1.log"
    log.parent.mkdir(parents=True)
    log.symlink_to(folder / "mine.txt")
    done = sweep(folder, *RUN)
    assert done.returncode == 4
    assert "cannot be written" in done.stderr
    assert not (folder / "mine.txt").exists()


def test_the_run_folder_itself_may_be_a_link(folder):
    (folder / "large_disk").mkdir()
    (folder / "runs").symlink_to(folder / "large_disk")
    run(folder)
    assert (folder / "large_disk" / "small" / "trials" / "00000").is_dir()

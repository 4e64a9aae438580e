"""A run that logs to TensorBoard as well, and one whose other log is broken; and the export."""

from pathlib import Path

import pytest

from sweep.trackers.feed import LOG
from tests.console_script import sweep
from tests.filled_store import fill_store
from tests.snapshots import lr_batch_study
from tests.unit.test_trackers import scalars_in

TRAIN = """
def train(params, device, state=None):
    for epoch in range(3):
        yield {"test_accuracy": params["lr"] + epoch / 10}
"""
STUDY = """\
study: logged
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.1, 0.2, 0.3]}}
search: {sampler: grid}
log: [tensorboard]
"""


def _study(folder: Path) -> Path:
    (folder / "mine.py").write_text(TRAIN)
    (folder / "logged.yaml").write_text(STUDY)
    return folder / "runs" / "logged"


def test_a_run_has_its_epochs_in_tensorboard_too(tmp_path: Path) -> None:
    runs = _study(tmp_path)
    done = sweep(tmp_path, "run", "--study", "logged.yaml", "--cpu", "2")
    assert done.returncode == 0, done.stderr
    assert "log:" not in done.stderr
    found = sorted(
        scalars_in(runs / "tensorboard" / f"trial-{number:05d}", "test_accuracy")[-1][1]
        for number in range(3)
    )
    assert [round(value, 3) for value in found] == [0.3, 0.4, 0.5]


def test_a_log_that_cannot_be_written_is_one_line_and_hurts_no_trial(tmp_path: Path) -> None:
    runs = _study(tmp_path)
    runs.mkdir(parents=True)
    (runs / "tensorboard").write_text("in the way")
    done = sweep(tmp_path, "run", "--study", "logged.yaml", "--cpu", "1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("log: tensorboard is left out") == 1
    assert "3 complete" in sweep(tmp_path, "status", "--study", "logged").stdout


def test_a_server_that_does_not_answer_keeps_no_other_log_from_being_written(
    tmp_path: Path,
) -> None:
    pytest.importorskip("mlflow", reason="mlflow is not installed")
    runs = _study(tmp_path)
    study = tmp_path / "logged.yaml"
    study.write_text(STUDY.replace("[tensorboard]", "[mlflow, tensorboard]"))
    nobody = "http://ann:secret@127.0.0.1:1"
    done = sweep(
        tmp_path, "run", "--study", "logged.yaml", "--cpu", "1", MLFLOW_TRACKING_URI=nobody
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("log: ")]
    assert said == [
        "log: mlflow is left out: the MLflow server at 127.0.0.1:1 does not do what is asked of "
        "it; look there, or correct MLFLOW_TRACKING_URI"
    ]
    assert "secret" not in (runs / LOG).read_text()
    for number in range(3):
        steps = scalars_in(runs / "tensorboard" / f"trial-{number:05d}", "test_accuracy")
        assert len(steps) == 3


def test_a_stored_study_is_exported_to_tensorboard(tmp_path: Path) -> None:
    fill_store(f"sqlite:///{tmp_path}/runs/sweep.db", lr_batch_study())
    export = ("export", "--study", "lr_bs", "--format", "tensorboard")
    done = sweep(tmp_path, *export, "-o", "boards")
    assert (done.returncode, done.stderr) == (0, "wrote boards\n")
    assert len(list((tmp_path / "boards").iterdir())) == 6
    for flags, said in (
        ((), "tensorboard is a folder: name one with -o tensorboard"),
        (("-o", "runs/sweep.db"), "runs/sweep.db is a file; name a folder for tensorboard"),
        (("-o", "boards"), "boards is not empty, and tensorboard shows twice what is written"),
        (("-o", "new", "--by", "lr"), "has every trial whole; leave out the other flags"),
    ):
        refused = sweep(tmp_path, *export, *flags)
        assert refused.returncode == 2
        assert said in refused.stderr

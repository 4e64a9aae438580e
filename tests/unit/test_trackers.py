"""Logs elsewhere: what TensorBoard, MLflow and W&B are told, and that none can hurt a sweep."""

import os
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData

from sweep.errors import UnusableError
from sweep.records import TrialState
from sweep.trackers.entries import (
    Begun,
    Ended,
    Entry,
    Measured,
    entries_of,
    from_line,
    measured,
    to_line,
)
from sweep.trackers.feed import LOG, MOST_WAITING, Feed
from sweep.trackers.opening import explained, open_tracker
from sweep.trackers.tensorboard import TensorBoard
from tests.snapshots import START, lr_batch_study, make_epochs, seconds

EPOCH = Measured(trial=3, epoch=1, metrics={"test_accuracy": 0.5}, at_s=12.5)
BEGUN = Begun(trial=3, params={"lr": 0.1, "optimizer": "sgd", "flip": True}, first_epoch=0, at_s=1)
ENDED = Ended(trial=3, params=BEGUN.params, state="complete", value=0.5, at_s=20.0)
DEADLINE_S = 30.0


def events_in(folder: Path) -> list[Event]:
    """The events of TensorBoard's files: records of a length, a checksum, the data, another."""
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        data, place = path.read_bytes(), 0
        while place < len(data):
            (length,) = struct.unpack_from("<Q", data, place)
            found.append(Event.FromString(data[place + 12 : place + 12 + length]))
            place += length + 16
    return found


def scalars_in(folder: Path, tag: str) -> list[tuple[int, float]]:
    return [
        (event.step, value.simple_value)
        for event in events_in(folder)
        for value in event.summary.value
        if value.tag == tag
    ]


@pytest.mark.parametrize("entry", [EPOCH, BEGUN, ENDED], ids=lambda entry: type(entry).__name__)
def test_an_entry_is_the_same_after_its_line(entry: Entry) -> None:
    assert to_line(entry).endswith("}\n")
    assert from_line(to_line(entry)) == entry


def test_what_is_not_finite_is_not_logged() -> None:
    (epoch,) = make_epochs(0, [None])
    entry = measured(replace(epoch, metrics={"a": float("nan"), "b": 0.0, "c": None}))
    assert entry.metrics == {
        "lr": 0.1,
        "epoch_s": 10.0,
        "images_per_s": 500.0,
        "peak_memory_bytes": 100 * 2**20,
        "b": 0.0,
    }


def test_a_stored_study_is_told_trial_by_trial() -> None:
    entries = list(entries_of(lr_batch_study()))
    assert [type(entry) for entry in entries[:5]] == [Begun, Measured, Measured, Measured, Ended]
    assert {entry.trial for entry in entries} == set(range(6))
    assert [e.state for e in entries if isinstance(e, Ended)][3] == "failed"


def test_tensorboard_has_a_run_for_each_trial_with_its_epochs(tmp_path: Path) -> None:
    tracker = TensorBoard("lr_bs", "test_accuracy", tmp_path)
    for entry in entries_of(lr_batch_study()):
        tracker.put(entry)
    tracker.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"trial-{n:05d}" for n in range(6)]
    steps = scalars_in(tmp_path / "trial-00001", "test_accuracy")
    assert steps == [(0, 0.5), (1, pytest.approx(0.95)), (2, pytest.approx(0.92))]
    assert scalars_in(tmp_path / "trial-00001", "final/test_accuracy") == [
        (0, pytest.approx(0.92))
    ]


def test_tensorboard_knows_the_params_and_how_the_trial_ended(tmp_path: Path) -> None:
    tracker = TensorBoard("s", "test_accuracy", tmp_path)
    for entry in (BEGUN, EPOCH, ENDED):
        tracker.put(entry)
    tracker.close()
    params: dict[str, object] = {}
    for event in events_in(tmp_path / "trial-00003"):
        for value in event.summary.value:
            content = value.metadata.plugin_data.content
            if content:
                told = HParamsPluginData.FromString(content).session_start_info.hparams
                params |= {name: getattr(p, p.WhichOneof("kind")) for name, p in told.items()}
    assert params == {"lr": 0.1, "optimizer": "sgd", "flip": True, "state": "complete"}


def test_a_trial_that_goes_on_replaces_the_epochs_that_it_repeats(tmp_path: Path) -> None:
    for first in (0, 1):
        tracker = TensorBoard("s", "test_accuracy", tmp_path)
        tracker.put(replace(BEGUN, first_epoch=first))
        tracker.put(EPOCH)
        tracker.close()
    events = events_in(tmp_path / "trial-00003")
    starts = [e.step for e in events if e.session_log.status == e.session_log.START]
    assert starts == [1]


def feed(tmp_path: Path, **others: object) -> Feed:
    asked: dict[str, object] = {"log": "tensorboard", "study": "s", "metric": "test_accuracy"}
    return Feed(**(asked | {"folder": tmp_path} | others))


def script(tmp_path: Path, text: str) -> tuple[str, str]:
    path = tmp_path / "writer.py"
    path.write_text(text)
    return (sys.executable, str(path))


def test_a_feed_writes_in_another_process(tmp_path: Path) -> None:
    with feed(tmp_path, patience_s=DEADLINE_S) as fed:
        for entry in (BEGUN, EPOCH, ENDED):
            fed.put(entry)
    assert fed.notices() == []
    assert scalars_in(tmp_path / "tensorboard" / "trial-00003", "test_accuracy") == [(1, 0.5)]


def test_a_missing_library_is_one_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "wandb.py").write_text("raise ModuleNotFoundError('hidden', name='wandb')\n")
    paths = [str(hidden), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    with feed(tmp_path, log="wandb", patience_s=DEADLINE_S) as fed:
        for entry in (BEGUN, EPOCH, ENDED):
            fed.put(entry)
    assert fed.notices() == [
        "log: wandb is left out: wandb needs wandb, which is not installed: "
        "pip install 'sweep-trials[wandb]'"
    ]


FAILING = """
import pathlib
class Run:
    def log(self, *_, **__): raise RuntimeError("the quota is used up")
    def finish(self): pathlib.Path(__file__).with_name("finished").touch()
def init(**_): return Run()
def Settings(**_): pass
"""


def test_what_a_tracker_holds_is_let_go_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wandb.py").write_text(FAILING)
    paths = [str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    with feed(tmp_path, log="wandb", patience_s=DEADLINE_S) as fed:
        for entry in (BEGUN, EPOCH, ENDED):
            fed.put(entry)
    assert fed.notices() == ["log: wandb is left out: the quota is used up"]
    assert (tmp_path / "finished").exists()


def test_a_folder_that_cannot_be_written_is_one_notice(tmp_path: Path) -> None:
    (tmp_path / "tensorboard").write_text("in the way")
    with feed(tmp_path, patience_s=DEADLINE_S) as fed:
        for entry in (BEGUN, EPOCH, EPOCH, ENDED):
            fed.put(entry)
    (notice,) = fed.notices()
    assert notice.startswith("log: tensorboard is left out: ")


def test_a_writer_that_dies_is_one_notice(tmp_path: Path) -> None:
    dies = script(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    with feed(tmp_path, writer=dies) as fed:
        deadline = time.monotonic() + DEADLINE_S
        told: list[str] = []
        while not told and time.monotonic() < deadline:
            fed.put(EPOCH)
            told = fed.notices()
            time.sleep(0.01)
        for _ in range(100):
            fed.put(EPOCH)
    assert [*told, *fed.notices()] == [
        f"log: what writes tensorboard has ended; see {LOG} in the study's folder"
    ]


def test_a_writer_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    hangs = script(tmp_path, "import time\ntime.sleep(600)\n")
    began = time.monotonic()
    with feed(tmp_path, writer=hangs, patience_s=0.5) as fed:
        for _ in range(MOST_WAITING + 2_000):
            fed.put(EPOCH)
        assert time.monotonic() - began < DEADLINE_S
        assert fed.notices() == ["log: some epochs are not in tensorboard, which lags behind"]
    assert time.monotonic() - began < DEADLINE_S
    assert fed.notices() == [
        f"log: the rest is not in tensorboard, which takes too long; see {LOG} in the study's "
        "folder"
    ]


def test_a_writer_that_cannot_start_is_one_notice(tmp_path: Path) -> None:
    with feed(tmp_path, writer=("/nowhere/python",)) as fed:
        fed.put(EPOCH)
    (notice,) = fed.notices()
    assert notice.startswith("log: tensorboard is left out: ")


def test_what_a_library_raises_is_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(UnusableError, match=r"^mlflow cannot be written: two lines$"),
        explained("mlflow"),
    ):
        raise RuntimeError("two\nlines")


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_the_others_take_a_whole_study(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name, reason=f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    tracker = open_tracker(name, "lr_bs", "test_accuracy", tmp_path / name)
    for entry in entries_of(lr_batch_study()):
        tracker.put(entry)
    tracker.close()
    if name == "wandb":
        assert len(list((tmp_path / name).rglob("run-*.wandb"))) == 6
        return
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=(tmp_path / name).as_uri())
    experiment = client.get_experiment_by_name("lr_bs")
    runs = {r.data.tags["sweep.trial"]: r for r in client.search_runs([experiment.experiment_id])}
    assert runs["1"].data.params == {"optimizer": "adam", "batch_size": "32", "lr": "0.01"}
    assert runs["1"].data.metrics["final/test_accuracy"] == 0.92
    assert {runs["2"].info.status, runs["3"].info.status} == {"KILLED", "FAILED"}
    assert runs["2"].data.tags["sweep.state"] == str(TrialState.PRUNED)
    began_ms = round((START + seconds(100)).timestamp() * 1000)
    info = runs["1"].info
    assert (info.start_time, info.end_time) == (began_ms, began_ms + 30_000)
    (final,) = client.get_metric_history(info.run_id, "final/test_accuracy")
    assert final.timestamp == info.end_time


def test_tensorboard_is_written_without_loading_torch(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from sweep.trackers.opening import open_tracker\n"
        f"open_tracker('tensorboard', 's', 'm', pathlib.Path({str(tmp_path)!r}))\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr

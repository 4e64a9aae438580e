"""Training on a folder of pictures: in memory, and decoded anew where memory is short."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from PIL import Image

from sweep.coordinator.events import SweepEnded
from sweep.coordinator.plan import Plan
from sweep.errors import DataError
from sweep.fleet.slots import cpu_slots
from sweep.records import TrialState
from sweep.spec.load import load_study_file
from sweep.spec.recipe import AugmentSpec, DataSpec, ModelSpec
from sweep.spec.training import resolve_training
from sweep.training import dataset
from sweep.training.dataset import load_dataset
from sweep.training.pictures import decode, list_pictures
from sweep.training.residence import may_reside
from sweep.training.resident import ResidentSplit
from sweep.training.splits import Augmentation, Dataset, ImageSplit, Share
from sweep.training.streamed import StreamedSplit
from sweep.training.train import TrainConfig, train
from tests.image_folder import write_pictures, write_split_pictures
from tests.scripted import run_to_end, stored

CPU = torch.device("cpu")
LIMIT = "SWEEP_DATA_MEMORY"
TIGHT = "0.0001MiB"
TIMES = ("epoch_s", "images_per_s", "peak_memory_bytes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_split_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(autouse=True)
def _forgets_data_sets() -> None:
    dataset._load.cache_clear()


def spec_of(folder: Path, **keys: Any) -> DataSpec:
    return DataSpec.model_validate(
        {"name": "folder", "path": str(folder), "image_size": 16, **keys}
    )


def loaded(
    monkeypatch: pytest.MonkeyPatch, limit: str, spec: DataSpec, kind: type[ImageSplit]
) -> Dataset:
    """The data set, which lies in memory or not as the limit says."""
    monkeypatch.setenv(LIMIT, limit)
    dataset._load.cache_clear()
    data = load_dataset(spec, CPU)
    assert isinstance(data.train, kind)
    return data


def both_ways(monkeypatch: pytest.MonkeyPatch, spec: DataSpec) -> tuple[Dataset, Dataset]:
    resident = loaded(monkeypatch, "1GiB", spec, ResidentSplit)
    return resident, loaded(monkeypatch, TIGHT, spec, StreamedSplit)


@pytest.mark.parametrize("side", [8, 16, 33])
def test_pictures_are_scaled_and_cropped_as_torchvision_does(folder: Path, side: int) -> None:
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import CenterCrop, Compose, Resize

    theirs = ImageFolder(str(folder / "train"), Compose([Resize(side), CenterCrop(side)]))
    ours = decode([path for path, _ in theirs.samples], side, num_threads=2)
    for mine, (picture, _) in zip(ours, theirs, strict=True):
        assert np.array_equal(mine, np.asarray(picture))


def test_grey_transparent_and_palette_pictures_become_colour(tmp_path: Path) -> None:
    kinds = {"L": 77, "RGBA": (10, 20, 30, 0), "P": 0, "1": 1, "LA": (5, 200)}
    paths = []
    for kind, colour in kinds.items():
        paths.append(str(tmp_path / f"{kind}.png"))
        Image.new(kind, (9, 12), colour).save(paths[-1])
    images = decode(paths, 8, num_threads=1)
    assert images.shape == (5, 8, 8, 3)
    assert images[:, 4, 4].tolist() == [[77] * 3, [10, 20, 30], [0] * 3, [255] * 3, [5] * 3]


@pytest.mark.parametrize("limit", ["1GiB", TIGHT])
def test_files_that_are_no_images_are_named_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setenv(LIMIT, limit)
    folder = write_split_pictures(tmp_path / "p", 6, 2)
    broken = [folder / "train" / "cat" / name for name in ("0.png", "1.jpg", "2.bmp", "3.png")]
    whole = broken[0].read_bytes()
    for path, content in zip(broken, (whole[:-40], b"", b"<html>", b"\x89PNG"), strict=True):
        path.write_bytes(content)
    (folder / "train" / "dog" / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    with pytest.raises(DataError) as caught:
        load_dataset(spec_of(folder), CPU)
    message = str(caught.value)
    assert "\n" not in message
    assert message.count(" cannot be read as an image (") == 3
    assert message.endswith("so it is with 2 more: replace or remove them")


def test_a_picture_that_breaks_later_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_split_pictures(tmp_path / "p", 6, 2)
    data = loaded(monkeypatch, TIGHT, spec_of(folder), StreamedSplit)
    path = folder / "test" / "owl" / "1.jpg"
    path.write_bytes(path.read_bytes()[:100])
    normalization = dataset_normalization(data)
    with pytest.raises(DataError, match=r"test/owl/1.jpg cannot be read as an image \(.*runcated"):
        list(data.test.chunks(normalization, 4))


def dataset_normalization(data: Dataset) -> Any:
    from sweep.training.resident import normalization_of

    return normalization_of(data, "dataset", torch.channels_last)


def test_a_folder_that_changed_since_the_study_file_was_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^data.path names .*, which has no folder test"):
        list_pictures(spec_of(write_pictures(tmp_path / "p", 2)))


def test_both_ways_give_the_same_batches_chunks_and_statistics(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resident, streamed = both_ways(monkeypatch, spec_of(folder, val_size=10))
    random_numbers = torch.get_rng_state()
    assert (streamed.num_classes, streamed.in_channels, streamed.image_side) == (3, 3, 16)
    assert resident.validation is not None
    assert streamed.validation is not None
    for one, other in ((resident.mean, streamed.mean), (resident.std, streamed.std)):
        assert torch.equal(one, other)
    normalization = dataset_normalization(resident)
    for one, other in (
        (resident.train, streamed.train),
        (resident.validation, streamed.validation),
        (resident.test, streamed.test),
        (resident.calibration, streamed.calibration),
    ):
        assert len(one) == len(other)
        assert one.image_pixels == other.image_pixels == 256
        pairs = zip(one.chunks(normalization, 7), other.chunks(normalization, 7), strict=True)
        for mine, theirs in pairs:
            assert torch.equal(mine[0], theirs[0])
            assert torch.equal(mine[1], theirs[1])
    augmentation = Augmentation(crop=2, flip=True)
    one, other = (
        data.train.batches(8, augmentation, normalization) for data in (resident, streamed)
    )
    assert len(one) == len(other) == 7
    for seed in (1, 2):
        epochs = (each.epoch(torch.Generator().manual_seed(seed)) for each in (one, other))
        for mine, theirs in zip(*epochs, strict=True):
            assert torch.equal(mine[0], theirs[0])
            assert torch.equal(mine[1], theirs[1])
            assert mine[0].stride() == theirs[0].stride()
    share = Share(index=1, count=3)
    epochs = (
        data.train.batches(8, augmentation, normalization, share).epoch(
            torch.Generator().manual_seed(1)
        )
        for data in (resident, streamed)
    )
    for mine, theirs in zip(*epochs, strict=True):
        assert len(mine[1]) == 3
        assert torch.equal(mine[0], theirs[0])
        assert torch.equal(mine[1], theirs[1])
    assert torch.equal(resident.test.part(share).labels, streamed.test.part(share).labels)
    assert torch.equal(torch.get_rng_state(), random_numbers), "those are the layers'"


def trained(spec: DataSpec) -> list[dict[str, float]]:
    """Two epochs of a small network; what was measured, without the times."""
    config = TrainConfig(
        data=spec,
        model=ModelSpec(width=4),
        training=resolve_training({"epochs": 2, "batch_size": 16, "lr": 0.05}),
        seed=0,
    )
    return [
        {name: value for name, value in metrics.items() if name not in TIMES}
        for metrics, _ in train(config, "cpu")
    ]


def test_both_ways_train_to_the_same_digits_and_leave_no_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    spec = spec_of(folder, val_size=12, augment=AugmentSpec(crop=3).model_dump())
    monkeypatch.setenv(LIMIT, "1GiB")
    torch.manual_seed(3)
    resident = trained(spec)
    dataset._load.cache_clear()
    monkeypatch.setenv(LIMIT, "0.02MiB")
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with caplog.at_level(logging.WARNING):
        streamed = trained(spec)
    assert streamed == resident
    assert resident[-1]["test_accuracy"] > 0.9
    assert "which is too much to keep (SWEEP_DATA_MEMORY sets the limit)" in caplog.text
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_an_epoch_that_is_cut_short_leaves_no_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = loaded(monkeypatch, TIGHT, spec_of(folder), StreamedSplit)
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    batches = data.train.batches(4, Augmentation(crop=0, flip=False), dataset_normalization(data))
    epoch = batches.epoch(torch.Generator())
    next(epoch)
    epoch.close()  # type: ignore[attr-defined]
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_a_whole_folder_is_split_by_the_study_file(tmp_path: Path) -> None:
    spec = spec_of(write_pictures(tmp_path / "p", 10), test_split=0.2)
    data = load_dataset(spec, CPU)
    assert (len(data.train), len(data.test)) == (24, 6)
    assert data.test.labels.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("limit", "fits"),
    [("0.001MB", True), ("0.0009 MB", False), ("0.001MiB", True), (TIGHT, False), ("1 GiB", True)],
)
def test_the_environment_limits_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, limit: str, fits: bool
) -> None:
    monkeypatch.setenv(LIMIT, limit)
    assert may_reside(1000, CPU) is fits


@pytest.mark.parametrize("limit", ["much", "4", "-1GiB", "4 GiB or so"])
def test_a_limit_that_is_no_size_is_refused(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setenv(LIMIT, limit)
    with pytest.raises(DataError) as caught:
        may_reside(1000, CPU)
    assert str(caught.value) == (
        f"SWEEP_DATA_MEMORY is the text '{limit}'; "
        "it takes a size with a unit, such as 512MiB or 2GiB"
    )


def test_without_a_limit_half_of_the_free_memory_may_be_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(LIMIT, raising=False)
    assert may_reside(2**20, CPU)
    assert not may_reside(psutil.virtual_memory().total, CPU)


STUDY = """\
data: {name: folder, path: pictures, image_size: 16}
model: {width: 4}
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.05, 0.02]}}
training: {epochs: 2, batch_size: 16}
"""


def test_a_study_runs_on_a_folder_that_is_decoded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, TIGHT)
    write_split_pictures(tmp_path / "pictures")
    (tmp_path / "s.yaml").write_text(STUDY)
    plan = Plan(
        spec=load_study_file(tmp_path / "s.yaml"),
        url=f"sqlite:///{tmp_path}/out/sweep.db",
        run_folder=tmp_path / "out",
        slots=cpu_slots(1),
    )
    assert run_to_end(plan) == SweepEnded(reason="the space is exhausted", exit_code=0)
    assert [trial.state for trial in stored(plan).trials] == [TrialState.COMPLETE] * 2


def test_a_broken_picture_ends_the_command_before_the_first_trial(tmp_path: Path) -> None:
    folder = write_split_pictures(tmp_path / "pictures")
    (folder / "train" / "cat" / "1.jpg").write_text("no picture")
    (tmp_path / "s.yaml").write_text(STUDY)
    plan = Plan(
        spec=load_study_file(tmp_path / "s.yaml"),
        url=f"sqlite:///{tmp_path}/out/sweep.db",
        run_folder=tmp_path / "out",
        slots=cpu_slots(1),
    )
    with pytest.raises(DataError, match=r"train/cat/1.jpg cannot be read as an image \(cannot id"):
        run_to_end(plan)
    assert not (tmp_path / "out" / "sweep.db").exists()

"""A folder of pictures on a GPU: decoded once or anew, the same images come out."""

from pathlib import Path

import pytest
import torch

from sweep.spec.recipe import DataSpec
from sweep.training import dataset
from sweep.training.dataset import load_dataset
from sweep.training.resident import normalization_of
from sweep.training.splits import Augmentation, Dataset
from tests.image_folder import write_split_pictures

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def loaded(monkeypatch: pytest.MonkeyPatch, limit: str, folder: Path) -> Dataset:
    monkeypatch.setenv("SWEEP_DATA_MEMORY", limit)
    dataset._load.cache_clear()
    spec = DataSpec(name="folder", path=str(folder), image_size=16)
    return load_dataset(spec, torch.device("cuda:0"))


def test_both_ways_give_the_same_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_split_pictures(tmp_path / "pictures")
    epochs = []
    for limit in ("1GiB", "0.0001MiB"):
        data = loaded(monkeypatch, limit, folder)
        normalization = normalization_of(data, "dataset", torch.channels_last)
        batches = data.train.batches(8, Augmentation(crop=2, flip=True), normalization)
        epochs.append(list(batches.epoch(torch.Generator("cuda:0").manual_seed(1))))
    for (mine, labels), (theirs, others) in zip(*epochs, strict=True):
        assert mine.is_cuda
        assert torch.equal(mine, theirs)
        assert torch.equal(labels, others)

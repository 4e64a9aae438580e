"""Evaluation: chunks change nothing of the result, whatever their size and shape."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sweep.spec.recipe import DataSpec
from sweep.training import evaluation
from sweep.training.dataset import load_dataset
from sweep.training.evaluation import NO_LABEL, evaluate, padded, recalibrate
from sweep.training.resident import normalization_of
from sweep.training.splits import Dataset, Normalization
from tests.small_images import NUM_TEST, write_small_images

CPU = torch.device("cpu")


class Seeing(nn.Module):
    """A small network that notes the shape of what goes through."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []
        self.norm = nn.BatchNorm2d(3)
        self.fc = nn.Linear(192, 4)

    def forward(self, x: Tensor) -> Tensor:
        self.shapes.append(tuple(x.shape))
        logits: Tensor = self.fc(self.norm(x).flatten(1))
        return logits


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path = write_small_images(tmp_path_factory.mktemp("data") / "images.npz")
    return load_dataset(DataSpec(name="npz", path=str(path)), CPU)


@pytest.fixture(scope="module")
def normalization(data: Dataset) -> Normalization:
    return normalization_of(data, "dataset", torch.channels_last)


def test_a_limit_of_images_at_once_is_kept_and_changes_nothing(
    data: Dataset, normalization: Normalization
) -> None:
    torch.manual_seed(0)
    model = Seeing()
    whole = evaluate(model, data.test, normalization, torch.float32)
    assert model.shapes == [(NUM_TEST, 3, 8, 8)]
    model.shapes.clear()
    assert evaluate(model, data.test, normalization, torch.float32, 7) == pytest.approx(whole)
    assert {shape[0] for shape in model.shapes} == {6, 7}


def test_statistics_are_those_of_all_images_evenly_weighted_also_in_small_chunks(
    data: Dataset, normalization: Normalization
) -> None:
    model = Seeing()
    recalibrate(model, data.calibration, normalization, torch.float32, 12)
    assert {shape[0] for shape in model.shapes} == {12}
    images = normalization.apply(data.calibration.pixels)
    torch.testing.assert_close(
        model.norm.running_mean, images.mean((0, 2, 3)), atol=1e-5, rtol=1e-4
    )
    torch.testing.assert_close(model.norm.running_var, images.var((0, 2, 3)), atol=0, rtol=0.15)


class Pooling(nn.Module):
    """A network with BatchNorm behind its pooling, which sees one number of each image."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: Tensor) -> Tensor:
        pooled: Tensor = self.norm(x.mean((2, 3)))
        return pooled


def test_statistics_of_large_images_hold_how_the_images_differ(
    data: Dataset, normalization: Normalization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "CHUNK_PIXELS", {"cpu": 64})  # a single image fills it
    model = Pooling()
    recalibrate(model, data.calibration, normalization, torch.float32)
    means = normalization.apply(data.calibration.pixels).mean((2, 3))
    torch.testing.assert_close(model.norm.running_mean, means.mean(0), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(model.norm.running_var, means.var(0), atol=0, rtol=0.2)


def test_padded_chunks_are_of_one_shape_and_count_only_what_was_there(
    data: Dataset, normalization: Normalization
) -> None:
    chunks = list(data.test.chunks(normalization, 7))
    filled = list(padded(chunks))
    assert {len(labels) for _, labels in chunks} == {6, 7}
    assert {images.shape for images, _ in filled} == {(7, 3, 8, 8)}
    assert {images.stride() for images, _ in filled} == {chunks[0][0].stride()}
    torch.manual_seed(0)
    model = Seeing().eval()
    for (images, labels), (longer, more_labels) in zip(chunks, filled, strict=True):
        assert torch.equal(longer[: len(labels)], images)
        assert more_labels.tolist() == [*labels.tolist(), *[NO_LABEL] * (7 - len(labels))]
        logits, more_logits = model(images), model(longer)
        torch.testing.assert_close(
            F.cross_entropy(more_logits, more_labels, reduction="sum"),
            F.cross_entropy(logits, labels, reduction="sum"),
        )
        hits = (logits.argmax(1) == labels).sum()
        assert (more_logits.argmax(1) == more_labels).sum() == hits

"""Npz: images of one's own, counted and checked without loading them."""

from pathlib import Path

import numpy as np
import pytest
from study_texts import DATA, changed, load_text, problems_of

from sweep.spec.recipe import DataSpec


def npz(folder: Path, **arrays: object) -> str:
    """A study file over an archive with these arrays in place of good ones."""
    good = {
        "x_train": np.zeros((40, 8, 8, 3), np.uint8),
        "y_train": np.zeros(40, np.int64),
        "x_test": np.zeros((10, 8, 8, 3), np.uint8),
        "y_test": np.zeros(10, np.int64),
    }
    kept = {name: array for name, array in {**good, **arrays}.items() if array is not None}
    np.savez_compressed(folder / "images.npz", **kept)  # type: ignore[arg-type]
    text = changed(DATA, "data: {name: npz, path: images.npz}\n")
    return text.replace("{epochs: 6}", "{epochs: 6, batch_size: 32}")


def test_images_in_an_npz_are_counted_without_loading_them(tmp_path: Path) -> None:
    spec = load_text(tmp_path, npz(tmp_path))
    assert spec.recipe.data == DataSpec(name="npz", path=f"{tmp_path}/images.npz")
    text = npz(tmp_path).replace("batch_size: 32", "batch_size: 64")
    expected = (
        "9: training.batch_size 64 is larger than the data: 40 images to train on; take fewer"
    )
    assert problems_of(tmp_path, text) == [expected]


def test_grey_images_need_no_channels(tmp_path: Path) -> None:
    grey = {"x_train": np.zeros((40, 8, 8), np.uint8), "x_test": np.zeros((10, 8, 8), np.uint8)}
    load_text(tmp_path, npz(tmp_path, **grey))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y_test": None}, "which lacks y_test; it takes x_train, y_train, x_test, y_test"),
        (
            {"x_train": np.zeros((40, 8, 8, 3), np.float32)},
            "whose x_train is <f4 of shape (40, 8, 8, 3); "
            "it takes uint8 of shape N,H,W,C, or N,H,W for grey ones",
        ),
        (
            {"x_test": np.zeros((10, 64), np.uint8)},
            "whose x_test is |u1 of shape (10, 64); "
            "it takes uint8 of shape N,H,W,C, or N,H,W for grey ones",
        ),
        (
            {"y_train": np.zeros(39, np.int64)},
            "whose y_train is <i8 of shape (39,); it takes 40 whole numbers, one for each image",
        ),
        (
            {"y_train": np.zeros(40, np.float64)},
            "whose y_train is <f8 of shape (40,); it takes 40 whole numbers, one for each image",
        ),
        (
            {"x_test": np.zeros((10, 9, 9, 3), np.uint8)},
            "whose training images are (8, 8, 3) and test images (9, 9, 3); make them alike",
        ),
    ],
)
def test_an_npz_of_another_kind_is_refused(
    tmp_path: Path, arrays: dict[str, object], message: str
) -> None:
    expected = f"3: data.path names {tmp_path}/images.npz, {message}"
    assert problems_of(tmp_path, npz(tmp_path, **arrays)) == [expected]


@pytest.mark.parametrize("size", [0, 10, 200, 700])
def test_a_damaged_npz_is_refused(tmp_path: Path, size: int) -> None:
    text = npz(tmp_path)
    path = tmp_path / "images.npz"
    path.write_bytes(path.read_bytes()[:size])
    (problem,) = problems_of(tmp_path, text)
    message = "which is no .npz archive of plain arrays; save it anew"
    assert problem == f"3: data.path names {path}, {message}"

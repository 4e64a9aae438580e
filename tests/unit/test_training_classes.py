"""The labels of a data set have the names that people know them by."""

from sweep.spec.recipe import DataSpec
from sweep.training.classes import class_names


def test_published_sets_have_their_published_names():
    assert class_names(DataSpec(name="cifar10"), 10)[3] == "cat"
    assert class_names(DataSpec(name="fashion_mnist"), 10)[9] == "Ankle boot"
    assert class_names(DataSpec(name="digits"), 10) == [str(digit) for digit in range(10)]


def test_a_folder_has_its_own_and_what_does_not_fit_is_numbered(tmp_path):
    for name in ("dogs", "cats", ".cache"):
        (tmp_path / "train" / name).mkdir(parents=True)
    spec = DataSpec(name="folder", path=str(tmp_path), image_size=8)
    assert class_names(spec, 2) == ["cats", "dogs"]
    assert class_names(spec, 3) == ["0", "1", "2"]
    gone = DataSpec(name="folder", path=str(tmp_path / "nix"), image_size=8)
    assert class_names(gone, 2) == ["0", "1"]

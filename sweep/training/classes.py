"""Classes: what the labels of a data set are called."""

from pathlib import Path

from sweep.spec.recipe import DataSpec

_CIFAR10 = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
]
_FASHION_MNIST = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def class_names(spec: DataSpec, num_classes: int) -> list[str]:
    """The name of each label in its order: as published, a folder's own, or else the number."""
    match spec.name:
        case "cifar10":
            names = list(_CIFAR10)
        case "fashion_mnist":
            names = list(_FASHION_MNIST)
        case "folder":
            names = _of_folder(Path(str(spec.path)))
        case _:
            names = []
    return names if len(names) == num_classes else [str(label) for label in range(num_classes)]


def _of_folder(path: Path) -> list[str]:
    top = path / "train" if (path / "train").is_dir() else path
    try:
        folders = [each.name for each in top.iterdir() if each.is_dir()]
    except OSError:
        return []
    return sorted(name for name in folders if not name.startswith("."))

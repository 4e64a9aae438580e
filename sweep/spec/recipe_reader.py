"""The recipe's reader: what a study file says of its data, its model and its train function."""

from pathlib import Path
from typing import get_args

from sweep.spec.document import BROKEN
from sweep.spec.folder import list_folder
from sweep.spec.kind import Kind, Unfit
from sweep.spec.kinds import Number, OneOf, Switch, Whole
from sweep.spec.npz import num_train_images
from sweep.spec.places import ExistingFile, FolderPath, Function
from sweep.spec.reader import Reader
from sweep.spec.recipe import AugmentSpec, DataName, DataSpec, ModelSpec, RecipeSpec

_NUM_TRAIN_IMAGES = {
    "digits": 1437,
    "cifar10": 50_000,
    "cifar100": 50_000,
    "fashion_mnist": 60_000,
}
_OWNERS = {
    "path": ("npz", "folder"),
    "root": ("cifar10", "cifar100", "fashion_mnist"),
    "image_size": ("folder",),
    "test_split": ("folder",),
}
"""The keys of `data` that only some data sets have."""
_PATHS = {"npz": "the .npz file", "folder": "the folder of images"}
_AUGMENT: dict[str, Kind] = {"crop": Whole(0, 64), "flip": Switch()}
_IMAGE_SIZE = Whole(8, 1024)
_BUILT_IN_MODEL = ("name", "width", "stem", "weights")


def data_kinds(folder: Path) -> dict[str, Kind]:
    """What each key of `data` may be, except `augment`."""
    return {
        "name": OneOf(get_args(DataName)),
        "root": FolderPath(folder),
        "path": FolderPath(folder),
        "val_size": Whole(0),
        "image_size": _IMAGE_SIZE,
        "test_split": Number(0, above=True, high=1, below=True),
    }


def model_kinds(folder: Path) -> dict[str, Kind]:
    """What each key of `model` may be."""
    return {
        "name": OneOf(("resnet18", "resnet34", "resnet50")),
        "width": Whole(1, 4096),
        "stem": OneOf(("cifar", "imagenet")),
        "weights": ExistingFile(folder),
        "factory": Function(folder),
    }


def read_recipe(reader: Reader, folder: Path) -> RecipeSpec:
    """What a trial trains; paths are taken from `folder`."""
    is_own = reader.has(("train",))
    train = reader.fit(("train",), reader.value(("train",)), Function(folder)) if is_own else None
    return RecipeSpec(
        train=None if train is BROKEN else train,
        data=_read_data(reader, folder, is_own),
        model=_read_model(reader, folder, is_own),
    )


def read_num_train_images(reader: Reader, data: DataSpec | None) -> int | None:
    """How many images there are to train on, validation taken off; None where unknown."""
    is_half_read = reader.has(("data", "test_split")) and data is not None and not data.test_split
    if data is None or is_half_read:
        return None
    try:
        num_images = _num_images(data)
    except Unfit as error:
        reader.complain(("data", "path"), f"data.path {error}")
        return None
    if num_images is None or data.val_size < num_images:
        return None if num_images is None else num_images - data.val_size
    message = f"data.val_size is {data.val_size}, but there are {num_images} training images"
    reader.complain(("data", "val_size"), f"{message}; take fewer")
    return None


def _num_images(data: DataSpec) -> int | None:
    if data.name in _NUM_TRAIN_IMAGES:
        return _NUM_TRAIN_IMAGES[data.name]
    if data.path is None:
        return None
    if data.name == "npz":
        return num_train_images(Path(data.path))
    return len(list_folder(Path(data.path), data.test_split).train)


def _read_data(reader: Reader, folder: Path, is_own: bool) -> DataSpec | None:
    place = ("data",)
    if not reader.has(place):
        if not is_own:
            reader.require(place, "{name: digits}, {name: cifar10}, {name: npz, path: FILE}, ...")
        return None
    kinds = data_kinds(folder)
    values = reader.section(place, kinds, also=("augment",))
    augment = AugmentSpec(**reader.section((*place, "augment"), _AUGMENT))
    if isinstance(reader.value(place), dict):
        reader.require((*place, "name"), kinds["name"].allowed)
    if "name" not in values:
        return None
    _check_data_keys(reader, values["name"])
    return DataSpec(**values, augment=augment)


def _check_data_keys(reader: Reader, name: str) -> None:
    """Some keys belong to some data sets, and some of these cannot do without them."""
    if name in _PATHS:
        reader.require(("data", "path"), f"{_PATHS[name]}, relative to the study file")
    if name == "folder":
        reader.require(("data", "image_size"), f"{_IMAGE_SIZE.allowed} pixels")
    for key, owners in _OWNERS.items():
        if name not in owners and reader.has(("data", key)):
            *most, last = owners
            listed = f"{', '.join(most)} and {last}" if most else last
            message = f"data.{key} is for {listed}, and data.name is {name}; remove it"
            reader.complain(("data", key), message)


def _read_model(reader: Reader, folder: Path, is_own: bool) -> ModelSpec | None:
    place = ("model",)
    if not reader.has(place):
        return None if is_own else ModelSpec()
    values = reader.section(place, model_kinds(folder))
    for key in _BUILT_IN_MODEL:
        if reader.has((*place, "factory")) and reader.has((*place, key)):
            message = f"model.{key} has no effect beside model.factory; remove one of them"
            reader.complain((*place, key), message)
    return ModelSpec(**values)

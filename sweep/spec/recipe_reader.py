"""The recipe's reader: what a study file says of its data, its model and its train function."""

from pathlib import Path

from sweep.spec.document import BROKEN
from sweep.spec.kind import Kind, Unfit
from sweep.spec.kinds import OneOf, Switch, Whole
from sweep.spec.npz import num_train_images
from sweep.spec.places import ExistingFile, FolderPath, Function
from sweep.spec.reader import Reader
from sweep.spec.recipe import AugmentSpec, DataSpec, ModelSpec, RecipeSpec

_NUM_TRAIN_IMAGES = {"digits": 1437, "cifar10": 50_000}
_AUGMENT: dict[str, Kind] = {"crop": Whole(0, 64), "flip": Switch()}
_BUILT_IN_MODEL = ("name", "width", "stem", "weights")


def data_kinds(folder: Path) -> dict[str, Kind]:
    """What each key of `data` may be, except `augment`."""
    return {
        "name": OneOf(("digits", "cifar10", "npz")),
        "root": FolderPath(folder),
        "path": FolderPath(folder),
        "val_size": Whole(0),
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
    if data is None:
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
    if data.name != "npz":
        return _NUM_TRAIN_IMAGES[data.name]
    return None if data.path is None else num_train_images(Path(data.path))


def _read_data(reader: Reader, folder: Path, is_own: bool) -> DataSpec | None:
    place = ("data",)
    if not reader.has(place):
        if not is_own:
            reader.require(place, "{name: digits}, {name: cifar10} or {name: npz, path: FILE}")
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
    """`path` belongs to npz and is required there; `root` belongs to what is downloaded."""
    if name == "npz":
        reader.require(("data", "path"), "the .npz file, relative to the study file")
    for key, owner in (("path", "npz"), ("root", "cifar10")):
        if name != owner and reader.has(("data", key)):
            message = f"data.{key} is for {owner}, and data.name is {name}; remove it"
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

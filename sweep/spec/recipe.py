"""The recipe: which data, which model and whose training function, as checked values.

Paths are absolute here. Whether the files exist is not known here.
"""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


DataName: TypeAlias = Literal["digits", "cifar10", "cifar100", "fashion_mnist", "npz", "folder"]
PADDINGS = {"digits": 1, "cifar10": 4, "cifar100": 4, "fashion_mnist": 4}
"""What published results on these sets use; an eighth of the side for others. Fashion-MNIST's is
that of Zhong et al., "Random Erasing Data Augmentation", 2017."""


class AugmentSpec(_Frozen):
    """How training images are varied; None leaves it to the data set.

    `crop` is the padding in pixels of a random crop (0: none), `flip` mirrors half of them.
    """

    crop: int | None = None
    flip: bool | None = None


class DataSpec(_Frozen):
    """A data set. `root` is the folder of an archive, `path` an npz file or a folder of images.

    `val_size` images are taken out of the training images for validation. A folder's images are
    made `image_size` pixels high and wide; `test_split` is the share of them to test on where they
    are not split yet.
    """

    name: DataName
    root: str | None = None
    path: str | None = None
    val_size: int = 0
    image_size: int | None = None
    test_split: float | None = None
    augment: AugmentSpec = AugmentSpec()

    def augmentation(self, image_side: int) -> tuple[int, bool]:
        """The crop's padding in pixels and whether to flip, for images of `image_side` pixels."""
        padding = PADDINGS.get(self.name, image_side // 8)
        crop = padding if self.augment.crop is None else self.augment.crop
        flip = self.name != "digits" if self.augment.flip is None else self.augment.flip
        return crop, flip


class ModelSpec(_Frozen):
    """A network: a ResNet of `width` channels, or what the user's `factory` builds.

    `weights` is a file of what the network has learnt elsewhere; without it, it starts anew.
    """

    name: Literal["resnet18", "resnet34", "resnet50"] = "resnet18"
    width: int = 64
    stem: Literal["cifar", "imagenet"] = "cifar"
    weights: str | None = None
    factory: str | None = None


class RecipeSpec(_Frozen):
    """What a trial trains. `train` None means the built-in training, which needs data and model.

    `train` and `model.factory` read "/folder/mine.py:name" or "package.module:name".
    """

    train: str | None = None
    data: DataSpec | None = None
    model: ModelSpec | None = None

"""Data, model and train function of a study file that cannot be used."""

from pathlib import Path

import pytest
from study_texts import DATA, MODEL, SEARCH, changed, problems_of

CASES = {
    "missing data": (
        DATA,
        "",
        [
            "1: data is missing; it takes {name: digits}, {name: cifar10}, {name: npz, "
            "path: FILE}, ...: add it",
        ],
    ),
    "a word for the data": (
        DATA,
        "data: digits\n",
        [
            "3: data is the text 'digits', not a mapping: write its keys (name, root, path,"
            " val_size, image_size, test_split, augment)",
        ],
    ),
    "unknown data": (
        DATA,
        "data: {name: imagenet}\n",
        [
            "3: data.name is the text 'imagenet'; it takes digits, cifar10, cifar100, "
            "fashion_mnist, npz or folder",
        ],
    ),
    "data by another name": (
        DATA,
        "data: {name: CIFAR-10}\n",
        [
            "3: data.name is the text 'CIFAR-10'; it takes digits, cifar10, cifar100, "
            "fashion_mnist, npz or folder: did you mean cifar10?",
        ],
    ),
    "data without a name": (
        DATA,
        "data: {val_size: 100}\n",
        [
            "3: data.name is missing; it takes digits, cifar10, cifar100, fashion_mnist, npz "
            "or folder: add it",
        ],
    ),
    "a path for digits": (
        DATA,
        "data: {name: digits, path: x.npz}\n",
        [
            "3: data.path is for npz and folder, and data.name is digits; remove it",
        ],
    ),
    "a root for digits": (
        DATA,
        "data: {name: digits, root: x}\n",
        [
            "3: data.root is for cifar10, cifar100 and fashion_mnist, and data.name is digits; "
            "remove it",
        ],
    ),
    "keys of a folder for cifar100": (
        DATA,
        "data: {name: cifar100, image_size: 32, test_split: 0.5}\n",
        [
            "3: data.image_size is for folder, and data.name is cifar100; remove it",
            "3: data.test_split is for folder, and data.name is cifar100; remove it",
        ],
    ),
    "a folder without its keys": (
        DATA,
        "data: {name: folder}\n",
        [
            "3: data.path is missing; it takes the folder of images, relative to the study file: "
            "add it",
            "3: data.image_size is missing; it takes a whole number from 8 to 1024 pixels: add it",
        ],
    ),
    "a folder by another name": (
        DATA,
        "data: {name: ImageFolder, folder: x, resolution: 64}\n",
        [
            "3: unknown key folder in data; did you mean path?",
            "3: unknown key resolution in data; did you mean image_size?",
            "3: data.name is the text 'ImageFolder'; it takes digits, cifar10, cifar100, "
            "fashion_mnist, npz or folder: did you mean folder?",
        ],
    ),
    "a share of all for the test": (
        DATA,
        "data: {name: folder, path: ., image_size: 4, test_split: 1}\n",
        [
            "3: data.image_size is 4; it takes a whole number from 8 to 1024",
            "3: data.test_split is 1; it takes a number above 0 and below 1",
        ],
    ),
    "all images for validation": (
        DATA,
        "data: {name: digits, val_size: 1437}\n",
        [
            "3: data.val_size is 1437, but there are 1437 training images; take fewer",
        ],
    ),
    "an npz without a path": (
        DATA,
        "data: {name: npz}\n",
        [
            "3: data.path is missing; it takes the .npz file, relative to the study file: add it",
        ],
    ),
    "an npz that is not there": (
        DATA,
        "data: {name: npz, path: missing.npz}\n",
        [
            "3: data.path names {folder}/missing.npz, which is not there; correct it or "
            "make the file",
        ],
    ),
    "an unknown augmentation": (
        DATA,
        "data: {name: digits, augment: {crop: 1, mirror: true}}\n",
        [
            "3: unknown key mirror in data.augment; known: crop, flip",
        ],
    ),
    "a model that is not there": (
        MODEL,
        "model: {name: resnet101}\n",
        [
            "4: model.name is the text 'resnet101'; it takes resnet18, resnet34 or resnet50: "
            "did you mean resnet50?",
        ],
    ),
    "a stem that is not there": (
        MODEL,
        "model: {stem: mnist}\n",
        [
            "4: model.stem is the text 'mnist'; it takes cifar or imagenet",
        ],
    ),
    "weights that are not there": (
        MODEL,
        "model: {name: resnet50, stem: imagenet, weights: resnet50.pth}\n",
        [
            "4: model.weights names {folder}/resnet50.pth, which is no file; correct it or put "
            "the file there",
        ],
    ),
    "weights by another name": (
        MODEL,
        "model: {name: resnet50, pretrained: true}\n",
        [
            "4: unknown key pretrained in model; did you mean weights?",
        ],
    ),
    "weights beside a factory": (
        MODEL,
        "model: {factory: 'net:build', weights: s.yaml}\n",
        [
            "4: model.weights has no effect beside model.factory; remove one of them",
        ],
    ),
    "a factory beside a width": (
        MODEL,
        "model: {factory: 'net:build', width: 16}\n",
        [
            "4: model.width has no effect beside model.factory; remove one of them",
        ],
    ),
    "a factory file that is not there": (
        MODEL,
        "model: {factory: './net.py:build'}\n",
        [
            "4: model.factory is the text './net.py:build', but there is no file "
            "{folder}/net.py; write it or correct this",
        ],
    ),
    "a factory without a function": (
        MODEL,
        "model: {factory: net.py}\n",
        [
            "4: model.factory is the text 'net.py'; it takes FILE.py:NAME or MODULE:NAME, "
            "such as ./mine.py:name",
        ],
    ),
    "a train function without a name": (
        SEARCH,
        SEARCH + "train: mine.py\n",
        [
            "11: train is the text 'mine.py'; it takes FILE.py:NAME or MODULE:NAME, such as"
            " ./mine.py:name",
        ],
    ),
    "a train function's file that is not there": (
        SEARCH,
        SEARCH + "train: ./mine.py:train\n",
        [
            "11: train is the text './mine.py:train', but there is no file "
            "{folder}/mine.py; write it or correct this",
        ],
    ),
    "nothing for a train function": (
        SEARCH,
        SEARCH + "train:\n",
        [
            "11: train is empty; it takes FILE.py:NAME or MODULE:NAME, such as ./mine.py:name",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=list(CASES))
def test_each_fault_is_named_with_its_line_and_its_remedy(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    problems = problems_of(tmp_path, changed(old, new))
    assert [each.replace(str(tmp_path), "{folder}") for each in problems] == expected

"""Export: a trained trial as one file that needs neither the study nor its data set."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import torch

from sweep.errors import UnusableError
from sweep.records import Checkpoint
from sweep.spec.recipe import RecipeSpec
from sweep.training.checkpoint import LoadedCheckpoint, load_checkpoint
from sweep.training.evaluated import evaluated_weights
from sweep.training.seal import seal_of

FORMAT = "sweep model 1"
SEAL = "sha256"
"""The key of the SHA-256 over all the others, by which a damaged file is known."""


def exported(
    checkpoint: Checkpoint, recipe: RecipeSpec, facts: Mapping[str, Any]
) -> tuple[bytes, LoadedCheckpoint]:
    """The bytes of the file, and the checkpoint that it was made of.

    It is a dict of tensors, numbers, text, lists and dicts, which `torch.load` reads with
    `weights_only=True`, sealed against damage. `facts` (plain JSON values) are put in as they
    are. Of the built-in training it holds the weights with the statistics that its metrics were
    measured by, and how images are put before them; of a training function of one's own the state
    that it yielded.
    Raises DamagedCheckpointError, and UnusableError for a checkpoint of an older version.
    """
    loaded = load_checkpoint(checkpoint)
    held = {"state": loaded.state} if recipe.train is not None else _network(loaded, recipe)
    content = {
        "format": FORMAT,
        **facts,
        "epoch": loaded.epoch,
        "metrics": dict(loaded.metrics),
        **held,
    }
    buffer = BytesIO()
    torch.save({**content, SEAL: seal_of(content)}, buffer)
    return buffer.getvalue(), loaded


def _network(loaded: LoadedCheckpoint, recipe: RecipeSpec) -> dict[str, Any]:
    assert recipe.model is not None, "the built-in training has a model"
    evaluation = loaded.state.get("evaluation")
    if evaluation is None:
        raise UnusableError(
            "the checkpoint is of an older version, which did not keep how images were put before "
            "the network: train the trial again"
        )
    mean, scale = evaluation["mean"], evaluation["scale"]
    return {
        "model": recipe.model.model_dump(mode="json"),
        "weights": evaluated_weights(loaded.state),
        "classes": evaluation["classes"],
        "precision": evaluation["precision"],
        "preprocessing": {
            "image_size": evaluation["image_size"],
            "channels": evaluation["channels"],
            "mean": [value / 255 for value in mean.tolist()],
            "std": [1 / (255 * value) for value in scale.tolist()],
            "pixel_mean": mean,
            "pixel_scale": scale,
        },
    }

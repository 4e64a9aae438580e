"""Training from Python: one training, epoch by epoch, without a study around it."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from sweep.errors import UsageError
from sweep.notebook.arguments import described, fitted, of_type, plain
from sweep.records import Snapshot, Trial
from sweep.spec.kinds import Whole
from sweep.spec.recipe import DataSpec, ModelSpec
from sweep.spec.study import StudySpec
from sweep.spec.training import resolve_training

if TYPE_CHECKING:
    from sweep.training.train import TrainConfig


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrainedEpoch:
    """One epoch (zero-based) of a training: its metrics, and the state to go on from.

    The state holds the live weights: it is valid until the next epoch is asked for.
    """

    epoch: int
    metrics: dict[str, float]
    state: dict[str, Any]

    def __getitem__(self, metric: str) -> float:
        return self.metrics[metric]

    def __repr__(self) -> str:
        shown = " ".join(f"{name}={value:.4g}" for name, value in self.metrics.items())
        return f"<epoch {self.epoch}: {shown}>"


def train(
    config: "TrainConfig", device: str = "cpu", state: Mapping[str, Any] | None = None
) -> Iterator[TrainedEpoch]:
    """Trains on a torch device, one epoch for each value that is asked for.

    `state` is that of an earlier epoch, to go on from. Closing the generator ends the training.
    Raises UsageError and DeviceError at once for what cannot be trained, or not there; later
    DataError when the data cannot be used, TrainFunctionError for a bad model factory.
    """
    from sweep.training.device import check_device
    from sweep.training.train import TrainConfig

    of_type("config", config, TrainConfig, "what sweep.config or a study's config() gives")
    check_device(of_type("device", device, str, "a device of torch's, such as 'cpu' or 'cuda:0'"))
    if state is not None:
        of_type("state", state, Mapping, "the state of an earlier epoch")  # type: ignore[type-abstract]
    return _epochs(config, device, state)


def _epochs(
    config: "TrainConfig", device: str, state: Mapping[str, Any] | None
) -> Iterator[TrainedEpoch]:
    from sweep.training.train import train as epochs_of

    with closing(epochs_of(config, device, state)) as epochs:
        for metrics, reached in epochs:
            yield TrainedEpoch(epoch=reached["epoch"], metrics=metrics, state=reached)


def config(
    data: str | Mapping[str, Any] = "cifar10",
    model: str | Mapping[str, Any] = "resnet18",
    *,
    seed: int = 0,
    **training: Any,
) -> "TrainConfig":
    """What `train` needs: the sections of a study file, and the training keys by name.

    `config("digits", {"name": "resnet18", "width": 16}, epochs=2, lr=0.05)`. Raises UsageError
    for a key or value that is not allowed.
    """
    from sweep.training.train import TrainConfig

    try:
        return TrainConfig(
            data=DataSpec.model_validate(_section("data", data)),
            model=ModelSpec.model_validate(_section("model", model)),
            training=resolve_training(plain(training, "training")),
            seed=fitted("seed", seed, Whole(0)),
        )
    except ValidationError as error:
        raise UsageError(_told(error)) from error


def _told(error: ValidationError) -> str:
    """The first fault of a section, in the words of the other arguments."""
    section = {"DataSpec": "data", "ModelSpec": "model"}.get(error.title, error.title)
    fault = error.errors()[0]
    where = ".".join(map(str, (section, *fault["loc"])))
    match fault["type"]:
        case "missing":
            return f"{where} is missing"
        case "extra_forbidden":
            return f"{where} is no key of {section}"
        case "literal_error":
            return f"{where} is {described(fault['input'])}; it takes {fault['ctx']['expected']}"
    return f"{where} is {described(fault['input'])}: {fault['msg']}"


def config_of(snapshot: Snapshot, trial: Trial) -> "TrainConfig":
    """What a trial was trained with. Raises UsageError for a training function of one's own."""
    from sweep.training.train import TrainConfig

    spec = StudySpec.from_json(dict(snapshot.study.spec))
    recipe = spec.recipe
    if recipe.train is not None:
        raise UsageError(f"the study trains with {recipe.train}; call that function itself")
    assert recipe.data is not None
    assert recipe.model is not None
    return TrainConfig(
        data=recipe.data,
        model=recipe.model,
        training=resolve_training(spec.flat_params(trial.params)),
        seed=trial.seed,
    )


def _section(name: str, given: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(given, str):
        return {"name": given}
    allowed = "a name, or a mapping with the keys of that section of a study file"
    return dict(of_type(name, given, Mapping, allowed))  # type: ignore[type-abstract]

"""The training keys: one table of what each may be, its default, and what it does."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import Any

from sweep.errors import UsageError
from sweep.space.names import hint
from sweep.spec.key_kinds import Epochs
from sweep.spec.kind import Kind, Unfit
from sweep.spec.kinds import Number, OneOf, OrNone, Switch, Whole

CPU_PRECISION = "cpu_precision"
"""Among the versions of a study: what precision auto means on its CPUs."""
GPU_PRECISION = "gpu_precision"
"""Likewise on its GPUs, though they may differ."""

_DEFAULT_LR = {"sgd": 0.1, "adam": 0.001, "adamw": 0.001, "rmsprop": 0.001}


def _key(kind: Kind, does: str, default: Any = MISSING, says: str | None = None) -> Any:
    metadata = {"kind": kind, "does": does, "says": says}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingValues:
    """Every training key with its value; the rows of the table are the fields."""

    epochs: int = _key(Whole(1, 1_000_000), "passes over the training images")
    batch_size: int = _key(Whole(1, 1_000_000), "images per optimizer step", 128)
    optimizer: str = _key(OneOf(("sgd", "adam", "adamw", "rmsprop")), "the update rule", "sgd")
    lr: float | None = _key(
        Number(0, above=True),
        "learning rate, the highest one of the schedule",
        None,
        "0.1 for sgd, else 0.001",
    )
    momentum: float = _key(
        Number(0, high=1, below=True), "momentum of sgd; the others do not use it", 0.9
    )
    weight_decay: float = _key(
        Number(0), "L2 penalty in the gradient; adamw takes it off the weights instead", 0.0005
    )
    schedule: str = _key(
        OneOf(("constant", "multistep", "cosine", "one_cycle")),
        "how the learning rate changes; all but constant fit it to the epochs",
        "constant",
    )
    milestones: tuple[int, ...] = _key(
        Epochs(), "multistep: the epochs (zero-based) from which lr is multiplied by gamma", ()
    )
    gamma: float = _key(Number(0, above=True, high=1), "multistep: the factor", 0.1)
    warmup_epochs: int = _key(
        Whole(0, 1_000_000), "epochs over which lr rises; one_cycle has 0.3 of all when 0", 0
    )
    label_smoothing: float = _key(
        Number(0, high=1, below=True), "share of the label that is spread over all classes", 0.0
    )
    clip_grad_norm: float | None = _key(
        OrNone(Number(0, above=True)), "largest norm of the gradient; none or 0: unlimited", None
    )
    accumulate: int = _key(
        Whole(1, 10_000), "parts that a batch is computed in, one after the other, for one step", 1
    )
    lr_scaling: str = _key(
        OneOf(("none", "linear")), "linear: lr is multiplied by batch_size / 256", "none"
    )
    precision: str = _key(
        OneOf(("auto", "fp32", "bf16", "fp16")),
        "number format; auto: the fastest safe one; on a CPU a probe finds it, once for a study",
        "auto",
    )
    recalibrate_batch_norm: bool = _key(
        Switch(), "fresh BatchNorm statistics before each evaluation", True
    )
    normalize: str = _key(
        OneOf(("dataset", "half")), "dataset: by its mean and deviation; half: to -1..1", "dataset"
    )
    deterministic: bool = _key(Switch(), "only algorithms that repeat bit by bit; slower", False)
    on_oom: str = _key(
        OneOf(("accumulate", "prune", "fail")),
        "when memory runs out: accumulate goes on with smaller parts of a batch, prune gives the "
        "trial up and tells the sampler, fail counts it as any error",
        "accumulate",
    )

    def as_params(self) -> dict[str, Any]:
        """Every key with its value as plain JSON values, from which `resolve_training` starts."""
        values = asdict(self)
        return {**values, "milestones": list(self.milestones)}


TRAINING_KINDS: Mapping[str, Kind] = {
    each.name: each.metadata["kind"] for each in fields(TrainingValues)
}
"""What each training key may be, in the order of the table."""


def resolve_training(values: Mapping[str, Any]) -> TrainingValues:
    """Every training key: the given values over the defaults, `lr` by the optimizer.

    Raises UsageError naming an unknown key, a value that is not allowed, or missing epochs.
    """
    unknown = next((name for name in values if name not in TRAINING_KINDS), None)
    if unknown is not None:
        raise UsageError(f"unknown training key {unknown}; {hint(unknown, TRAINING_KINDS)}")
    if "epochs" not in values:
        raise UsageError(
            f"training.epochs is missing; it takes {TRAINING_KINDS['epochs'].allowed}"
        )
    fitted = {name: _fitted(name, value) for name, value in values.items()}
    optimizer = fitted.get("optimizer", "sgd")
    return TrainingValues(**{"lr": _DEFAULT_LR[optimizer], **fitted})


def settle_precision(
    params: Mapping[str, Any], versions: Mapping[str, str], device: str
) -> dict[str, Any]:
    """The params of a trial on a device, as tables name it: `auto` is what the study began with.

    So all its trials calculate alike, wherever and whenever it goes on. A study that was begun on
    the other kind of device takes fp32 on a CPU, and what is best for it on each GPU.
    """
    if params.get("precision") != "auto":
        return dict(params)
    kept, otherwise = (CPU_PRECISION, "fp32") if device == "cpu" else (GPU_PRECISION, "auto")
    return {**params, "precision": versions.get(kept, otherwise)}


def training_table() -> str:
    """The table of the training keys in Markdown."""
    rows = [_row(each) for each in fields(TrainingValues)]
    head = ["| key | values | default | what it does |", "|---|---|---|---|"]
    return "\n".join(head + rows) + "\n"


def _fitted(name: str, value: Any) -> Any:
    try:
        return TRAINING_KINDS[name].fit(value)
    except Unfit as error:
        raise UsageError(f"training.{name} {error}") from error


def _row(key: Field[Any]) -> str:
    allowed = key.metadata["kind"].allowed
    return f"| {key.name} | {allowed} | {_default(key)} | {key.metadata['does']} |"


def _default(key: Field[Any]) -> str:
    if key.metadata["says"] is not None:
        return str(key.metadata["says"])
    if key.default is MISSING:
        return "required"
    if key.default is None or key.default == ():
        return "none"
    return str(key.default).lower()

"""Columns: the one list of what every table holds, in order, with what each number means.

The CSV, the screen, the report and the documentation read this list. A new column is only ever
appended, so that a script that reads by position goes on working. Between `value` and
`test_accuracy` a table of trials has one column for each param, under the param's own name; a
table of epochs has one for each metric between `epoch` and `lr`.
"""

from collections.abc import Iterable

from sweep.views.column import Column as Column
from sweep.views.column import Columns as Columns
from sweep.views.column import Kind as Kind
from sweep.views.column import column as _column

_STUDY = _column("study", Kind.TEXT, "name of the study")
_TRIAL = _column("trial", Kind.WHOLE, "zero-based number of the trial")
_CAUSE = _column("cause", Kind.TEXT, "why it failed; empty otherwise")
_IMAGES_PER_S = _column(
    "images_per_s", Kind.RATE, "training images per second: the median over the epochs"
)
_PEAK_MEMORY = _column(
    "peak_memory_mib",
    Kind.MEMORY,
    "highest memory of any epoch: on a GPU what torch allocated, on the CPU the whole process",
)
_BASELINE_MEMORY = _column(
    "baseline_memory_mib", Kind.MEMORY, "memory in use before it began, counted as the peak is"
)
_MICRO_BATCH = _column(
    "micro_batch",
    Kind.WHOLE,
    "the fewest images that went through at once: batch_size, or less where it was accumulated or "
    "did not fit in memory; BatchNorm sees so many",
)
_NUM_SHARING = _column(
    "num_sharing",
    Kind.WHOLE,
    "the most trials that ran on its device at a time during an epoch, itself included; on the "
    "CPU, where slots have cores of their own, the most on a core",
)
_NUM_DEVICES = _column(
    "num_devices",
    Kind.NUMBER,
    "devices that it had: 2 where it trained on two GPUs, 0.25 where four were to share one",
)

TRIALS_BEFORE_PARAMS: Columns = (
    _STUDY,
    _TRIAL,
    _column("state", Kind.TEXT, "waiting, running, complete, pruned or failed"),
    _CAUSE,
    _column(
        "value",
        Kind.NUMBER,
        "the objective: at the last epoch of a complete trial, at the last finite epoch of a "
        "pruned one; empty otherwise",
    ),
)
TRIALS_AFTER_PARAMS: Columns = (
    _column("test_accuracy", Kind.ACCURACY, "at the last epoch"),
    _column("best_test_accuracy", Kind.ACCURACY, "the highest of all epochs"),
    _column(
        "best_epoch",
        Kind.WHOLE,
        "zero-based epoch of best_test_accuracy (the first, when several are equal); without a "
        "test_accuracy, the epoch of the best objective",
    ),
    _column("val_accuracy", Kind.ACCURACY, "at the last epoch, with a validation split"),
    _column("epochs", Kind.WHOLE, "epochs that are stored"),
    _column(
        "epoch_s",
        Kind.SECONDS,
        "seconds an epoch, evaluation included: the median over the epochs, which the slow first "
        "one does not shift",
    ),
    _column(
        "duration_s",
        Kind.SECONDS,
        "seconds of all attempts together; one that still runs counts to its last stored epoch",
    ),
    _IMAGES_PER_S,
    _PEAK_MEMORY,
    _column(
        "cost",
        Kind.MONEY,
        "duration_s at the study's price: price_per_gpu_hour for each of its devices, or "
        "price_per_hour shared by the slots of the run; empty without a price",
    ),
    _column("device", Kind.TEXT, "device of the latest attempt"),
    _column("attempts", Kind.WHOLE, "how often it was started"),
    _column("seed", Kind.WHOLE, "seed of its random numbers"),
    _column("started_at", Kind.MOMENT, "start of the first attempt"),
    _column("finished_at", Kind.MOMENT, "end of the trial"),
    _BASELINE_MEMORY,
    _MICRO_BATCH,
    _NUM_SHARING,
    _NUM_DEVICES,
    _column("excluded", Kind.FLAG, "true where it was set apart by hand; empty otherwise"),
)

EPOCHS_BEFORE_METRICS: Columns = (
    _STUDY,
    _TRIAL,
    _column("attempt", Kind.WHOLE, "the latest attempt that reached the epoch, from 1"),
    _column("epoch", Kind.WHOLE, "zero-based epoch"),
)
EPOCHS_AFTER_METRICS: Columns = (
    _column("lr", Kind.NUMBER, "learning rate of the last step"),
    _column("epoch_s", Kind.SECONDS, "seconds of training, recalibration and evaluation"),
    _column("images_per_s", Kind.RATE, "training images per second"),
    _column("peak_memory_mib", Kind.MEMORY, "highest memory during the epoch"),
    _BASELINE_MEMORY,
    _MICRO_BATCH,
    _NUM_SHARING,
)

ATTEMPTS: Columns = (
    _STUDY,
    _TRIAL,
    _column("attempt", Kind.WHOLE, "number of the attempt, from 1"),
    _column("state", Kind.TEXT, "running, or how it ended; cut short is failed, with the cause"),
    _CAUSE,
    _column("device", Kind.TEXT, "device that it ran on"),
    _column("host", Kind.TEXT, "machine that it ran on"),
    _column("epochs", Kind.WHOLE, "epochs of it that count; those a later attempt redid do not"),
    _column("started_at", Kind.MOMENT, "start"),
    _column("finished_at", Kind.MOMENT, "end"),
    _column("log", Kind.TEXT, "file with its output"),
    _NUM_DEVICES,
)

BY: Columns = (
    _column("trials", Kind.WHOLE, "trials with this value, in any state"),
    _column("complete", Kind.WHOLE, "complete ones"),
    _column("pruned", Kind.WHOLE, "pruned ones"),
    _column("failed", Kind.WHOLE, "failed ones"),
    _column("epoch_s", Kind.SECONDS, "mean over the trials that have an epoch"),
    _column("images_per_s", Kind.RATE, "mean over the trials that have an epoch"),
    _column("peak_memory_mib", Kind.MEMORY, "mean over the trials that have an epoch"),
    _column("test_accuracy", Kind.ACCURACY, "mean over the complete trials, at the last epoch"),
    _column(
        "test_accuracy_std",
        Kind.ACCURACY,
        "standard deviation between the complete trials (n - 1); empty for one",
    ),
    _column(
        "best_test_accuracy",
        Kind.ACCURACY,
        "test_accuracy of best_trial: at its last epoch, while in the table of trials this name "
        "is the highest of all epochs",
    ),
    _column("best_trial", Kind.WHOLE, "the complete trial with the best objective"),
    _column("cost", Kind.MONEY, "sum over the trials"),
)
BY_OTHER_OBJECTIVE: Columns = (
    _column("value", Kind.NUMBER, "the objective: mean over the complete trials"),
    _column("value_std", Kind.NUMBER, "standard deviation between the complete trials (n - 1)"),
    _column("best_value", Kind.NUMBER, "the objective of best_trial"),
)
"""Appended to the table by a param where the objective is another metric than test_accuracy."""

BY_MEMORY: Columns = (
    _column(
        "baseline_memory_mib",
        Kind.MEMORY,
        "mean over the trials that have an epoch of the memory in use before they began",
    ),
    _column("micro_batch", Kind.WHOLE, "the fewest images that went through at once in any trial"),
    _column(
        "num_sharing",
        Kind.WHOLE,
        "the most trials that ran on a device at a time during an epoch of any of the trials",
    ),
)
"""The last columns of the table by a param."""

BY_GPUS: Columns = (
    _column(
        "speed_up", Kind.NUMBER, "how many times faster an epoch is than with the fewest GPUs"
    ),
    _column(
        "efficiency",
        Kind.NUMBER,
        "speed_up divided by how many times as many GPUs it took: 1 loses nothing",
    ),
)
"""Appended to the table by gpus_per_trial."""

_METRIC_ORDER = (
    "train_loss",
    "train_accuracy",
    "val_loss",
    "val_accuracy",
    "test_loss",
    "test_accuracy",
)


def ordered_metrics(names: Iterable[str]) -> list[str]:
    """The metrics in the order of their columns: the well-known ones, then the alphabet."""
    present = set(names)
    known = [name for name in _METRIC_ORDER if name in present]
    return known + sorted(present.difference(known))


def metric_column(metric: str) -> str:
    """The column of a metric: its own name, or `metric_NAME` where that is another column's."""
    taken = {column.name for column in (*EPOCHS_BEFORE_METRICS, *EPOCHS_AFTER_METRICS)}
    return f"metric_{metric}" if metric in taken else metric


def is_accuracy(metric: str) -> bool:
    """Whether a metric is a fraction that a screen shows in %: its name says accuracy."""
    return metric == "accuracy" or metric.endswith("_accuracy")


def kind_of_metric(metric: str) -> Kind:
    """What a metric's numbers are."""
    return Kind.ACCURACY if is_accuracy(metric) else Kind.NUMBER


_KINDS = {
    column.name: column.kind
    for columns in (
        TRIALS_BEFORE_PARAMS,
        TRIALS_AFTER_PARAMS,
        EPOCHS_BEFORE_METRICS,
        EPOCHS_AFTER_METRICS,
        ATTEMPTS,
        BY,
        BY_OTHER_OBJECTIVE,
        BY_MEMORY,
        BY_GPUS,
    )
    for column in columns
}
_OF_OBJECTIVE = ("value", "value_std", "best_value")


def kind_of_column(name: str) -> Kind:
    """What the cells of any table's column are; another metric's by its name, a param's are not
    known here."""
    return _KINDS.get(name, kind_of_metric(name))


def objective_kinds(metrics: Iterable[str]) -> dict[str, Kind]:
    """The columns that hold the objective, as accuracies where it is one in all the studies."""
    kind = Kind.ACCURACY if all(is_accuracy(metric) for metric in metrics) else Kind.NUMBER
    return dict.fromkeys(_OF_OBJECTIVE, kind)

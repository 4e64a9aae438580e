"""Logs: where else a study's epochs are written, for those who look at them elsewhere."""

from typing import Any

from sweep.spec.document import BROKEN
from sweep.spec.kind import unfit
from sweep.spec.kinds import OneOf
from sweep.spec.reader import Reader

LOGS = ("tensorboard", "mlflow", "wandb")


class _Logs:
    """A list of logs, each once; a single one may stand without brackets."""

    @property
    def allowed(self) -> str:
        return "a list of tensorboard, mlflow and wandb"

    def fit(self, value: Any) -> tuple[str, ...]:
        listed = value if isinstance(value, list) else [value]
        if not listed or any(not isinstance(each, str) for each in listed):
            raise unfit(value, self)
        return tuple(dict.fromkeys(OneOf(LOGS).fit(each) for each in listed))


def read_log(reader: Reader) -> tuple[str, ...]:
    """The logs that the study names; none without the key, or after a complaint."""
    if not reader.has(("log",)):
        return ()
    logs = reader.fit(("log",), reader.value(("log",)), _Logs())
    return () if logs is BROKEN else tuple(logs)

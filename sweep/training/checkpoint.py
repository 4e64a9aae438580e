"""Checkpoint: the state after an epoch as one file that is whole or not there, and its hash."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import is_zipfile

import numpy as np
import torch

from sweep.errors import BrokenContractError, DamagedCheckpointError
from sweep.records import Checkpoint
from sweep.training.whole_file import write_whole

_PLAIN = (bool, int, float, str, bytes, type(None))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LoadedCheckpoint:
    """What a checkpoint holds, its tensors on the CPU."""

    epoch: int
    metrics: dict[str, float]
    state: Any


def save_checkpoint(
    path: Path, state: Any, epoch: int, metrics: Mapping[str, float]
) -> Checkpoint:
    """The checkpoint is on the disk, whole, when this returns; before, nothing is at `path`.

    Raises BrokenContractError when the state holds more than tensors, arrays, numbers, text,
    bytes and None in lists, tuples and dicts; OSError when the disk refuses.
    """
    content = {"epoch": epoch, "metrics": dict(metrics), "state": _saveable(state, "state")}
    buffer = BytesIO()
    torch.save(content, buffer)
    data = buffer.getbuffer()
    write_whole(path, data)
    return Checkpoint(epoch=epoch, path=str(path), sha256=sha256(data).hexdigest())


def load_checkpoint(checkpoint: Checkpoint) -> LoadedCheckpoint:
    """What was saved. Raises DamagedCheckpointError when it is not exactly what was saved."""
    path = Path(checkpoint.path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DamagedCheckpointError(f"{path} cannot be read: {error.strerror}") from error
    if sha256(data).hexdigest() != checkpoint.sha256:
        raise DamagedCheckpointError(f"{path} is cut short or changed: its SHA-256 differs")
    foreign = DamagedCheckpointError(f"{path} is no checkpoint of this program")
    if not is_zipfile(BytesIO(data)):
        raise foreign
    try:
        content = torch.load(BytesIO(data), map_location="cpu", weights_only=True)
        return LoadedCheckpoint(**content)
    except (RuntimeError, UnpicklingError, TypeError) as error:
        raise foreign from error


def _saveable(value: Any, place: str) -> Any:
    """The value with arrays as tensors, and only what `weights_only` loading gives back."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
        tensor = _tensor_of(np.asarray(value), place)
        return tensor if isinstance(value, np.ndarray) else tensor.item()
    if isinstance(value, Mapping):
        return {
            _key(key, place): _saveable(item, f"{place}[{key!r}]") for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        plain = list if isinstance(value, list) else tuple
        return plain(_saveable(item, f"{place}[{i}]") for i, item in enumerate(value))
    if type(value) in _PLAIN:
        return value
    raise BrokenContractError(
        f"{place} is a {type(value).__name__}; a state holds tensors, arrays, numbers, text, "
        "bytes and None in dicts, lists and tuples"
    )


def _tensor_of(array: np.ndarray[Any, Any], place: str) -> torch.Tensor:
    """The array's numbers, laid out as torch takes them: one after the other, in native bytes."""
    try:
        return torch.as_tensor(np.asarray(array, array.dtype.newbyteorder("="), order="C"))
    except TypeError as error:
        raise BrokenContractError(
            f"{place} is of NumPy's type {array.dtype}, which torch does not know; a state may "
            "hold float64 or int64 instead"
        ) from error


def _key(key: Any, place: str) -> Any:
    if type(key) not in (str, int, bool, float):
        raise BrokenContractError(f"{place} has a key {key!r}; keys are text or numbers")
    return key

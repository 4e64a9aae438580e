"""Pickled arrays: published files that are pickles, read without running what they may hold."""

import pickle
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import numpy as np

from sweep.errors import DataError


def unpickled(place: str, content: bytes) -> Mapping[str, Any]:
    """The mapping of names to arrays, numbers and text that a pickle holds.

    Raises DataError, starting with `place`, for anything else, also for what would run code.
    """
    try:
        # latin1 is how Python 3 reads the arrays that Python 2 wrote
        found = _ArraysOnly(BytesIO(content), encoding="latin1").load()
    except Exception as error:  # a damaged pickle may raise anything
        raise DataError(f"{place} cannot be read: {error}") from error
    if not isinstance(found, Mapping):
        raise DataError(f"{place} holds no names with arrays")
    return found


_RECONSTRUCT: Any = np.empty(0).__reduce__()[0]
_ENCODE: Any = str.encode
_ALLOWED: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): _ENCODE,
}
"""All that a pickled array of numbers names; nothing here can open, run or import anything."""


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which is no array of numbers")
        return _ALLOWED[module, name]

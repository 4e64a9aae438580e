"""Loading: a user's own function by its reference, from a file or an installed package."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from sweep.errors import TrainFunctionError
from sweep.space.names import nearest


def load_object(reference: str) -> Callable[..., Any]:
    """The callable that `/folder/mine.py:name` or `package.module:name` refers to.

    A file's folder joins the module search path, so that what lies beside it can be imported.
    Raises TrainFunctionError when the file or name is missing or the import fails.
    """
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise TrainFunctionError(
            f"{reference} names no function; write ./mine.py:train or package.module:train"
        )
    module = _load_file(Path(place)) if place.endswith(".py") else _import(place, place)
    found = getattr(module, name, None)
    if not callable(found):
        raise TrainFunctionError(f"{place} has no function {name}{_hint(module, name)}")
    return found  # type: ignore[no-any-return]


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise TrainFunctionError(f"{path}: no such file")
    name = f"sweep_user_{sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TrainFunctionError(f"{path} is no Python file")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    # before it runs, so that its dataclasses and pickles find their module
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _import_failed(str(path), error) from error
    return module


def _import(name: str, shown: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise _import_failed(shown, error) from error


def _import_failed(place: str, error: BaseException) -> TrainFunctionError:
    reason = (str(error).splitlines() or ["it ended the program"])[0]
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == place]
    where = f"{place}:{lines[-1]}" if lines else place
    return TrainFunctionError(f"{where} cannot be imported: {type(error).__name__}: {reason}")


def _hint(module: ModuleType, name: str) -> str:
    names = [key for key, value in vars(module).items() if callable(value)]
    meant = nearest(name, names)
    return f"; did you mean {meant}?" if meant else ""

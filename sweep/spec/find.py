"""Finding: the study file that a name or a path on the command line means."""

from collections.abc import Iterator
from pathlib import Path

import sweep
from sweep.errors import NotFoundError
from sweep.space.names import hint, nearest

_SUFFIXES = (".yaml", ".yml")


def find_study_file(name_or_path: str, folder: Path) -> Path:
    """The study file of a name (./studies/NAME.yaml, then the shipped ones) or of a path.

    Relative paths are taken from `folder`. Raises NotFoundError with the near names.
    """
    if "/" in name_or_path or name_or_path.endswith(_SUFFIXES):
        path = folder / name_or_path
        if not _exists(path):
            raise NotFoundError(f"no study file {name_or_path}; {_hint_beside(path)}")
        return _shortened(path)
    for studies in (folder / "studies", shipped_studies()):
        for suffix in _SUFFIXES:
            path = studies / f"{name_or_path}{suffix}"
            if _exists(path):
                return _shortened(path)
    raise NotFoundError(_unknown_name(name_or_path, folder))


def shipped_studies() -> Path:
    """The folder of the study files that come with the program."""
    package = Path(sweep.__file__).parent
    installed = package / "studies"
    return installed if installed.is_dir() else package.parent / "studies"


def _unknown_name(name: str, folder: Path) -> str:
    shown = repr(name if len(name) <= 60 else f"{name[:57]}...")
    message = f"no study file {shown} in ./studies or among the shipped ones"
    for suffix in _SUFFIXES:
        if _exists(folder / f"{name}{suffix}"):
            return f"{message}; did you mean ./{name}{suffix}?"
    known = {path.stem for place in (folder / "studies", shipped_studies()) for path in _in(place)}
    return f"{message}; {hint(name, sorted(known))}"


def _hint_beside(path: Path) -> str:
    """The near file in the same folder, or where study files come from."""
    if not _exists(path.parent):
        return f"there is no folder {path.parent}"
    near = nearest(path.name, [each.name for each in _in(path.parent)])
    return f"did you mean {path.with_name(near).name}?" if near else "write one with: sweep init"


def _in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in sorted(folder.iterdir()) if path.suffix in _SUFFIXES)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _shortened(path: Path) -> Path:
    """The path as a message shows it best: from the current folder, where it lies below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path

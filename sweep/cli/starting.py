"""The files that a user starts from: new ones only, never over what is there."""

from pathlib import Path

from sweep.cli.files import write_new
from sweep.errors import NotFoundError, UsageError
from sweep.spec.key_kinds import StudyName
from sweep.spec.kind import Unfit
from sweep.spec.template import function_template, own_study_template, study_template


def write_new_files(file: str, train: str | None) -> list[str]:
    """The study file, and the training function's if one is wanted, are there; their names.

    Raises UsageError when a file is there already or has another ending, and writes nothing then.
    """
    texts = _texts(file, train)
    for name in texts:
        _check_free(Path(name))
    for name, text in texts.items():
        write_new(Path(name), text)
    return list(texts)


def _texts(file: str, train: str | None) -> dict[str, str]:
    path = Path(file)
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file} is no name of a study file; write one such as my_study.yaml")
    study = _study_name(path)
    shown = file if "/" in file else path.name
    if train is None:
        return {file: study_template(study, shown)}
    if Path(train).suffix != ".py" or not Path(train).stem.isidentifier():
        raise UsageError(f"--train {train} is no Python file; write one such as --train mine.py")
    reference = f"./{train}" if not Path(train).is_absolute() else train
    code = path.parent / train
    return {
        file: own_study_template(study, shown, f"{reference}:train"),
        str(code): function_template(),
    }


def _study_name(path: Path) -> str:
    try:
        return str(StudyName().fit(path.stem))
    except Unfit as error:
        raise UsageError(f"the study's name {error}; give the file another name") from error


def _check_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} exists already and stays as it is; give another name")
    if not path.parent.is_dir():
        raise NotFoundError(f"there is no folder {path.parent}; make it, or name another one")

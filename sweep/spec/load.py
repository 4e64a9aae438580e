"""The loader: a study file found, read and checked into a spec, or every problem of it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sweep.errors import Problem, StudyFileError
from sweep.spec.checks import Draft, check_draft, check_keys_once
from sweep.spec.document import BROKEN, Document, parse_document
from sweep.spec.find import find_study_file as find_study_file
from sweep.spec.kind import found
from sweep.spec.log_reader import read_log
from sweep.spec.overrides import apply_overrides
from sweep.spec.reader import Reader
from sweep.spec.recipe_reader import data_kinds, model_kinds, read_num_train_images, read_recipe
from sweep.spec.sections import (
    BUDGET,
    CHECKPOINTS,
    OBJECTIVE,
    RESOURCES,
    SEARCH,
    read_budget,
    read_checkpoints,
    read_head,
    read_objective,
    read_resources,
    read_search,
)
from sweep.spec.space_reader import read_enqueue, read_space
from sweep.spec.study import StudySpec
from sweep.spec.text import read_text
from sweep.spec.training import TRAINING_KINDS
from sweep.spec.values import OwnTrainingValue

_SECTIONS: Mapping[str, Iterable[str]] = {
    "data": (*data_kinds(Path()), "augment"),
    "model": model_kinds(Path()),
    "objective": OBJECTIVE,
    "training": TRAINING_KINDS,
    "search": (*SEARCH, "pruner"),
    "budget": BUDGET,
    "checkpoints": CHECKPOINTS,
    "resources": RESOURCES,
}
_KEY_PATHS = tuple(f"{section}.{key}" for section, keys in _SECTIONS.items() for key in keys)
_NO_OVERRIDES: Mapping[str, str] = {}


def load_study_file(path: Path, overrides: Mapping[str, str] = _NO_OVERRIDES) -> StudySpec:
    """The spec that a study file describes, with single values overridden (key -> YAML text).

    Paths in the spec are absolute; those of the file are relative to its folder.
    Raises StudyFileError with every problem found, in the order of the lines.
    """
    source = str(path)
    document = parse_document(read_text(path, source), source)
    _refuse_other_shapes(document, source)
    apply_overrides(document, overrides)
    _refuse_other_shapes(document, source)
    reader = Reader(document=document, elsewhere=_KEY_PATHS)
    spec = _read(reader, path.absolute().parent, path.stem)
    problems = _in_order([*document.problems, *reader.problems])
    if problems:
        raise StudyFileError(problems)
    assert spec is not None, "whatever is missing was complained about"
    return spec


def _refuse_other_shapes(document: Document, source: str) -> None:
    """Raises StudyFileError where there is no mapping at the top to read keys from."""
    if isinstance(document.value, dict):
        return
    if document.value is None and not document.problems:
        message = "an empty file; write a study in it, or run: sweep init"
    elif document.value is BROKEN or document.value is None:
        raise StudyFileError(_in_order(document.problems))
    else:
        message = f"{found(document.value)} at the top; a study file is keys with values"
    top = Problem(source=source, line=document.mark(()).line, message=message)
    raise StudyFileError(_in_order([*document.problems, top]))


def _read(reader: Reader, folder: Path, stem: str) -> StudySpec | None:
    """The spec, as good as it can be read; None where a needed part is missing."""
    study, description = read_head(reader, default_name=stem)
    recipe = read_recipe(reader, folder)
    is_own = reader.has(("train",))
    objective = read_objective(reader)
    training = _read_training(reader, is_own)
    space = read_space(reader, is_own)
    given_training = reader.mapping(("training",), TRAINING_KINDS)
    check_keys_once(reader, given_training)
    draft = Draft(
        recipe=recipe,
        objective=objective,
        space=space,
        training=training,
        search=read_search(reader, "grid" if reader.has(("configurations",)) else "tpe"),
        budget=read_budget(reader),
        num_images=read_num_train_images(reader, recipe.data),
    )
    enqueue = read_enqueue(reader, space, given_training)
    checkpoints = read_checkpoints(reader)
    resources = read_resources(reader, space)
    log = read_log(reader)
    check_draft(reader, draft, is_own)
    if objective is None or space is None:
        return None
    return StudySpec(
        study=study,
        description=description,
        recipe=recipe,
        objective=objective,
        space=space,
        training=training,
        search=draft.search,
        enqueue=enqueue,
        budget=draft.budget,
        checkpoints=checkpoints,
        resources=resources,
        log=log,
    )


def _read_training(reader: Reader, is_own: bool) -> dict[str, Any]:
    """The training keys of the file as plain JSON values; an own function may take any."""
    place = ("training",)
    if is_own:
        given = reader.mapping(place, ())
        own = {key: reader.fit((*place, key), given[key], OwnTrainingValue()) for key in given}
        return {key: value for key, value in own.items() if value is not BROKEN}
    if not reader.has(place):
        reader.require(place, "keys such as {epochs: 30}")
    elif isinstance(reader.value(place), dict):
        reader.require((*place, "epochs"), TRAINING_KINDS["epochs"].allowed)
    values = reader.section(place, TRAINING_KINDS)
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }


def _in_order(problems: list[Problem]) -> list[Problem]:
    """By line; those without one, such as a flag's, come last."""
    return sorted(problems, key=lambda problem: (problem.line is None, problem.line or 0))

"""Overrides: single values of a study file, set from the command line as key=value."""

from collections.abc import Mapping
from typing import Any

from sweep.errors import StudyFileError
from sweep.spec.document import MAX_DEPTH, Document, Mark, Place, inner, parse_document
from sweep.spec.text import check_text

FLAG = "--set"


def apply_overrides(document: Document, overrides: Mapping[str, str]) -> None:
    """Puts each value in its place; the keys are dotted, numbers count list entries from 0.

    Afterwards the flag is named as the source of the values that it set. What is wrong with a
    key or a value is added to the document's problems.
    """
    for key, text in overrides.items():
        shown = f"{key}={text}" if text.isprintable() else key
        mark = Mark(source=f"{FLAG} {shown}", line=None)
        given = _parsed(text, mark.source)
        document.problems.extend(mark.problem(each.message) for each in given.problems)
        if not given.problems:
            _put(document, key, given.value, mark)


def _put(document: Document, key: str, value: Any, mark: Mark) -> None:
    place = _place(document.value, key)
    try:
        if len(place) > MAX_DEPTH or "" in place:
            raise LookupError(key)
        document.value = _replaced(document.value, place, value)
    except LookupError:
        message = "no such place in a study file; write it as in training.epochs=3"
        document.problems.append(mark.problem(message))
        return
    _move_marks(document, place, mark)


def _parsed(text: str, source: str) -> Document:
    try:
        check_text(text, source)
    except StudyFileError as error:
        return Document(value=None, problems=error.problems)
    return parse_document(text, source)


def _place(value: Any, key: str) -> Place:
    """The place that a dotted key means in a value: numbers are positions where a list is."""
    place: list[str | int] = []
    for part in key.split("."):
        is_position = isinstance(value, list) and part.isdecimal() and len(part) < 7
        place.append(int(part) if is_position else part)
        value = inner(value, place[-1])
    return tuple(place)


def _replaced(holder: Any, place: Place, value: Any) -> Any:
    """`holder` with `value` at a place. Raises LookupError where there can be no such place."""
    if not place:
        return value
    first, rest = place[0], place[1:]
    if isinstance(holder, dict):
        return {**holder, first: _replaced(holder.get(first), rest, value)}
    if holder is None and first:
        return {first: _replaced(None, rest, value)}
    if isinstance(holder, list) and isinstance(first, int) and first < len(holder):
        return [*holder[:first], _replaced(holder[first], rest, value), *holder[first + 1 :]]
    raise LookupError(first)


def _move_marks(document: Document, place: Place, mark: Mark) -> None:
    for each in [each for each in document.marks if each[: len(place)] == place]:
        del document.marks[each]
    document.marks[place] = mark

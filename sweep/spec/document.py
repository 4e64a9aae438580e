"""The document: a study file's text as plain values, with the line of each.

The parser's events are read one by one, so that whatever must not be expanded (aliases, tags,
deep nesting) is refused before it is. No value of a key is judged here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from sweep.errors import Problem
from sweep.spec.scalars import scalar_value

MAX_DEPTH = 20

Place: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the keys, and positions in lists, that lead to it."""


class _Broken:
    """Stands for a value that was complained about already, so that nobody does so again."""


BROKEN = _Broken()


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """Where in which file (or flag) something stands; `line` counts from 1."""

    source: str
    line: int | None

    def problem(self, message: str) -> Problem:
        return Problem(source=self.source, line=self.line, message=message)


@dataclass(kw_only=True, slots=True)
class Document:
    """Plain values, where each of them stands, and what is wrong with the text itself."""

    value: Any
    marks: dict[Place, Mark] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def mark(self, place: Place) -> Mark:
        """Where a value stands; for one that is not there, where it would belong."""
        while place not in self.marks:
            place = place[:-1]
        return self.marks[place]


def dotted(place: Place) -> str:
    """A place as people write it, and as a flag takes it: space.lr.low, enqueue.0."""
    return ".".join(plain(str(part)) for part in place)


def plain(key: str) -> str:
    """A key as it is, or quoted and cut where it would not fit a line."""
    if 0 < len(key) <= 60 and key.isprintable():
        return key
    return repr(key if len(key) <= 60 else f"{key[:57]}...")


def parse_document(text: str, source: str) -> Document:
    """The document that a text holds; its problems are in it, none is raised.

    The value is None for an empty text, and BROKEN where a syntax error ended it.
    """
    document = Document(value=None, marks={(): Mark(source=source, line=1)})
    builder = _Builder(document=document, source=source, events=_events(text))
    try:
        builder.build()
    except _Stop as stop:
        document.problems.append(stop.mark.problem(stop.message))
        document.value = BROKEN
    return document


class _Stop(Exception):
    """Nothing that follows in the text can be understood."""

    def __init__(self, mark: Mark, message: str) -> None:
        super().__init__(message)
        self.mark = mark
        self.message = message


def _events(text: str) -> Iterator[Event]:
    return iter(YAML(typ="safe", pure=True).parse(text))


@dataclass(kw_only=True, slots=True)
class _Builder:
    """Turns events into values; knows the document that it fills."""

    document: Document
    source: str
    events: Iterator[Event]

    def build(self) -> None:
        """Fills the document with the one YAML document of the text."""
        num_documents = 0
        while (event := self._next()) is not None:
            if isinstance(event, DocumentStartEvent):
                num_documents += 1
                self._check_start(event, num_documents)
            elif isinstance(event, NodeEvent):
                self.document.value = self._value(event, ())

    def _check_start(self, event: DocumentStartEvent, number: int) -> None:
        if number > 1:
            raise _Stop(self._mark(event), "a second document starts here; a file holds one study")
        if event.version not in (None, (1, 2)):
            raise _Stop(self._mark(event), "%YAML asks for another version; remove the line")

    def _next(self) -> Event | None:
        try:
            return next(self.events, None)
        except MarkedYAMLError as error:
            raise _Stop(self._error_mark(error), _syntax_message(error)) from error
        except (YAMLError, ValueError) as error:
            raise _Stop(Mark(source=self.source, line=None), "no YAML; rewrite it") from error

    def _must(self) -> Event:
        event = self._next()
        assert event is not None, "the parser ends every collection that it starts"
        return event

    def _value(self, event: Event, place: Place) -> Any:
        self.document.marks.setdefault(place, self._mark(event))
        if len(place) > MAX_DEPTH:
            raise _Stop(self._mark(event), f"nested deeper than {MAX_DEPTH}; write it flatter")
        fault = _fault(event)
        if fault is not None:
            self._complain(event, fault)
        if isinstance(event, MappingStartEvent):
            value: Any = self._mapping(place)
        elif isinstance(event, SequenceStartEvent):
            value = self._sequence(place)
        else:
            value = self._scalar(event)
        return value if fault is None else BROKEN

    def _mapping(self, place: Place) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := self._must(), CollectionEndEvent):
            fault = _key_fault(event)
            if fault is not None:
                self._complain(event, fault)
                self._pass_over(event, place)
                self._pass_over(self._must(), place)
                continue
            assert isinstance(event, ScalarEvent)
            key = str(event.value)
            if key in values:
                self._complain(event, self._repeated((*place, key)))
                self._pass_over(self._must(), place)
                continue
            self.document.marks[(*place, key)] = self._mark(event)
            values[key] = self._value(self._must(), (*place, key))
        return values

    def _repeated(self, place: Place) -> str:
        first = self.document.marks[place].line
        return f"repeated key {dotted(place)}; it stands first in line {first}: remove one"

    def _pass_over(self, event: Event, place: Place) -> None:
        """Reads a node that has no place in the values, for what is wrong inside it."""
        if not isinstance(event, ScalarEvent | AliasEvent):
            self._value(event, (*place, ""))

    def _sequence(self, place: Place) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := self._must(), CollectionEndEvent):
            values.append(self._value(event, (*place, len(values))))
        return values

    def _scalar(self, event: Event) -> Any:
        if not isinstance(event, ScalarEvent):
            return BROKEN
        if event.style is not None:
            return event.value
        try:
            return scalar_value(event.value)
        except ValueError as error:
            self._complain(event, str(error))
            return BROKEN

    def _complain(self, event: Event, message: str) -> None:
        self.document.problems.append(self._mark(event).problem(message))

    def _mark(self, event: Event) -> Mark:
        return Mark(source=self.source, line=event.start_mark.line + 1)

    def _error_mark(self, error: MarkedYAMLError) -> Mark:
        mark = error.problem_mark or error.context_mark
        return Mark(source=self.source, line=None if mark is None else mark.line + 1)


def _key_fault(event: Event) -> str | None:
    if isinstance(event, MappingStartEvent | SequenceStartEvent):
        return "a list or mapping as a key; keys are names: write one"
    return _fault(event)


def _fault(event: Event) -> str | None:
    """Why a node is refused before it is looked at."""
    anchor = getattr(event, "anchor", None)
    if isinstance(event, AliasEvent):
        return f"alias *{plain(str(anchor))}; aliases are refused: write the value out"
    if anchor is not None:
        return f"anchor &{plain(anchor)}; anchors are refused: remove it"
    if getattr(event, "tag", None) is not None:
        return "a tag (!); tags are refused: remove it"
    return None


def _syntax_message(error: MarkedYAMLError) -> str:
    problem = str(error.problem or error.context or "it cannot be read")
    if "'\\t'" in problem:
        return "a tab; YAML takes spaces only: replace it"
    if "mapping values are not allowed" in problem:
        return "a second colon, or a wrong indentation; quote text that holds ': '"
    if "cannot start any token" in problem:
        character = problem.removeprefix("found ").removesuffix(" that cannot start any token")
        return f"the {character} starts no value; quote it"
    return f"broken YAML: {' '.join(problem.split())}; look at this line and the one before"


def inner(value: Any, part: str | int) -> Any:
    """What a list or mapping holds there; None where it holds nothing."""
    if isinstance(value, list):
        return value[part] if isinstance(part, int) and part < len(value) else None
    return value.get(part) if isinstance(value, dict) else None

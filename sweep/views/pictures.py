"""Picture: which figures are to become images, and the name of the file of each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweep.records import Snapshot
from sweep.views.gallery import GALLERY, STUDIES, Blank, Drawing, draw, draw_studies, kind_named
from sweep.views.series.subject import Subject, subject_of

ALL = "all"
_UNSAFE = re.compile(r"[^\w.-]+")
_MAX_NAME = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A drawing, and the file that its image goes to."""

    path: Path
    drawing: Drawing


def check_names(names: Sequence[str]) -> None:
    """Returns when each is the name of a figure, or all. Raises UsageError."""
    for name in names:
        if name not in (ALL, STUDIES):
            kind_named(name)


def pictures_of(
    snapshots: Sequence[Snapshot], names: Sequence[str], path: Path
) -> Iterator[Picture | Blank]:
    """The named figures of the studies; without names the first one that can be drawn.

    A single one goes to the path itself; of several each has the figure's name before the ending,
    and the study's in front of it where there are several studies.
    """
    subjects = [subject_of(snapshot) for snapshot in snapshots]
    if not names:
        yield _first(subjects, path)
        return
    drawn = list(_drawn(subjects, names))
    for study, each in drawn:
        if isinstance(each, Blank):
            yield each
        else:
            own = path if len(drawn) == 1 else _beside(path, study, each.name)
            yield Picture(path=own, drawing=each)


def _first(subjects: Sequence[Subject], path: Path) -> Picture | Blank:
    """Of several studies the figure of all, of one the first of the gallery that is no blank."""
    if len(subjects) > 1:
        drawn = draw_studies(subjects)
        return drawn if isinstance(drawn, Blank) else Picture(path=path, drawing=drawn)
    blanks = []
    for kind in GALLERY:
        each = draw(kind, subjects[0])
        if isinstance(each, Drawing):
            return Picture(path=path, drawing=each)
        blanks.append(each)
    return blanks[0]


def _drawn(
    subjects: Sequence[Subject], names: Sequence[str]
) -> Iterator[tuple[str | None, Drawing | Blank]]:
    """The figures with the names of their studies, those of a single study without."""
    is_wanted = set(names).__contains__
    files = _file_names([subject.snapshot.study.name for subject in subjects])
    if is_wanted(STUDIES) or (is_wanted(ALL) and len(subjects) > 1):
        yield None, draw_studies(subjects)
    for subject, name in zip(subjects, files, strict=True):
        study = name if len(subjects) > 1 else None
        for kind in GALLERY:
            if is_wanted(ALL) or is_wanted(kind.name):
                yield study, draw(kind, subject)


def _file_names(studies: Sequence[str]) -> list[str]:
    """The studies' names as parts of files' names, short, safe and no two of them alike."""
    names = [_UNSAFE.sub("_", study)[:_MAX_NAME] for study in studies]
    return [
        name if names.count(name) == 1 else f"{name}-{index}"
        for index, name in enumerate(names, start=1)
    ]


def _beside(path: Path, study: str | None, name: str) -> Path:
    parts = [path.stem, *([] if study is None else [study]), name]
    return path.with_name(f"{'-'.join(parts)}{path.suffix}")

"""Reports: the files that were asked for, a report and images, and what had nothing to draw."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sweep import clock
from sweep.cli.console import tell
from sweep.cli.files import check_place, write_whole
from sweep.errors import UsageError
from sweep.records import Snapshot

if TYPE_CHECKING:
    from sweep.views.gallery import Blank
    from sweep.views.pictures import Picture

_NOT_DRAWN = 1
_REPORTS = (".html", ".htm", ".md")
_IMAGES = (".png", ".svg", ".pdf")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFlags:
    """What was asked for; None where a flag was not given."""

    output: str | None
    image: str | None
    figures: tuple[str, ...]

    @property
    def report_path(self) -> Path | None:
        return None if self.output is None else Path(self.output)

    @property
    def image_path(self) -> Path | None:
        return None if self.image is None else Path(self.image)


def check_flags(flags: ReportFlags) -> None:
    """Returns when there is something to write, to places and in forms that can be written."""
    if flags.output is None and flags.image is None:
        raise UsageError("nothing is asked for: give -o report.html, or --image plot.png")
    if flags.figures and flags.image is None:
        raise UsageError("--figure is for --image: give --image plot.png as well")
    _check(flags.report_path, "-o", _REPORTS, "report.html")
    _check(flags.image_path, "--image", _IMAGES, "plot.png")
    if flags.figures:
        from sweep.views.pictures import check_names

        check_names(flags.figures)


def _check(path: Path | None, flag: str, endings: Sequence[str], example: str) -> None:
    if path is None:
        return
    if path.suffix.casefold() not in endings:
        known = ", ".join(endings)
        raise UsageError(f"{flag} {path} ends in none of {known}; write one such as {example}")
    check_place(path)


def deliver(snapshots: Sequence[Snapshot], flags: ReportFlags) -> int:
    """The report and the images are written, the report first; stderr says what is missing.

    Returns the exit code: 1 where a figure that was asked for by its name is among that.
    """
    pictures, blanks = _drawn(snapshots, flags)
    if flags.report_path is not None:
        _write_report(snapshots, flags.report_path, pictures)
    if pictures and flags.image_path is not None:
        _write_images(pictures, flags.image_path)
    return _NOT_DRAWN if any(blank.name in flags.figures for blank in blanks) else 0


def _drawn(
    snapshots: Sequence[Snapshot], flags: ReportFlags
) -> "tuple[list[Picture], list[Blank]]":
    """The figures that are to be images, and those of which stderr says why there is none."""
    if flags.image_path is None:
        return [], []
    from sweep.views.gallery import Blank
    from sweep.views.pictures import pictures_of

    pictures: list[Picture] = []
    blanks: list[Blank] = []
    for each in pictures_of(snapshots, flags.figures, flags.image_path):
        if isinstance(each, Blank):
            tell(f"no image of {each.name}: {each.reason}")
            blanks.append(each)
        else:
            pictures.append(each)
    return pictures, blanks


def _write_report(snapshots: Sequence[Snapshot], path: Path, pictures: "list[Picture]") -> None:
    now = clock.utc_now()
    if path.suffix.casefold() == ".md":
        from sweep.views.markdown_report import md_report

        text = md_report(snapshots, now, [(p.drawing, _link(path, p.path)) for p in pictures])
    else:
        from sweep.views.report import html_report

        text = html_report(snapshots, now)
    write_whole(path, text.encode(errors="backslashreplace"))
    tell(f"wrote {path}")


def _link(report: Path, image: Path) -> str:
    """The image's place as a link in the report names it."""
    return Path(os.path.relpath(image.resolve(), report.resolve().parent)).as_posix()


def _write_images(pictures: "list[Picture]", path: Path) -> None:
    from sweep.views.images import images_of

    form = path.suffix.casefold().lstrip(".")
    images = images_of([picture.drawing for picture in pictures], form)
    for picture, data in zip(pictures, images, strict=True):
        write_whole(picture.path, data)
        tell(f"wrote {picture.path}")

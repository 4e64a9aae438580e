"""The list of the stored studies as text and JSON."""

import json
from collections.abc import Sequence

from sweep.cli.grid import grid
from sweep.clock import iso_format
from sweep.records import Outline
from sweep.views.display import one_line, shorten

_MAX_NAME = 32


def studies_text(outlines: Sequence[Outline], width: int) -> str:
    """A line for each study, the oldest first."""
    if not outlines:
        return "no study is stored yet; start one with: sweep run --study quickstart\n"
    header = ["study", "objective", "trials", "created", "description"]
    rows = [_row(outline) for outline in outlines]
    return "".join(f"{line}\n" for line in grid([header, *rows], width, left=(0, 1, 3)))


def studies_json(outlines: Sequence[Outline]) -> str:
    """A list with an object for each study, the oldest first."""
    objects = [
        {
            "study": each.study.name,
            "metric": each.study.metric,
            "direction": each.study.direction.value,
            "trials": len(each.trials),
            "created_at": iso_format(each.study.created_at),
            "description": str(each.study.spec.get("description", "")),
        }
        for each in outlines
    ]
    return json.dumps(objects, ensure_ascii=False, indent=2) + "\n"


def _row(outline: Outline) -> list[str]:
    study = outline.study
    return [
        shorten(one_line(study.name), _MAX_NAME),
        f"{study.direction} {one_line(study.metric)}",
        str(len(outline.trials)),
        iso_format(study.created_at),
        one_line(" ".join(str(study.spec.get("description", "")).split())),
    ]

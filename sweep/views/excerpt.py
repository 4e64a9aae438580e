"""Excerpt: a study as a notebook shows it, in a few lines and one small table."""

from sweep.records import Snapshot
from sweep.views.chapter import Chapter, chapter_of
from sweep.views.display import one_line
from sweep.views.formats import shown_columns
from sweep.views.markup import Markup, element

_ROWS = 5


def excerpt_html(snapshot: Snapshot) -> str:
    """Where the study stands, its best trials, and what to know before believing them."""
    chapter = chapter_of(snapshot)
    pieces = [
        element("strong", f"Study {one_line(chapter.name)} ({chapter.state})"),
        element("p", chapter.headline),
        element("p", ", ".join(f"{name}: {value}" for name, value in chapter.facts)),
        *([_leaders(chapter)] if chapter.leaders is not None else []),
        *(element("p", element("small", caveat)) for caveat in chapter.caveats),
    ]
    return element("div", *pieces)


def _leaders(chapter: Chapter) -> Markup:
    assert chapter.leaders is not None
    frame = chapter.leaders.frame.head(_ROWS)
    head = [element("th", one_line(str(name))) for name in frame.columns]
    rows = [
        element("tr", *(element("td", cell) for cell in row))
        for row in zip(*shown_columns(frame, chapter.kinds), strict=True)
    ]
    return element("table", element("thead", element("tr", *head)), element("tbody", *rows))

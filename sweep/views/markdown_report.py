"""Markdown report: the tables and findings of studies as text for a README or a merge request."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from sweep.records import Snapshot
from sweep.views.chapter import Chapter, Table, chapter_of, failure_line
from sweep.views.display import one_line, show_moment
from sweep.views.formats import markdown_text, to_markdown
from sweep.views.recipe_facts import Facts

if TYPE_CHECKING:
    from sweep.views.gallery import Drawing


Images: TypeAlias = "Sequence[tuple[Drawing, str]]"


def md_report(snapshots: Sequence[Snapshot], now: datetime, images: Images = ()) -> str:
    """The report as Markdown, with links to images of figures that lie beside it."""
    chapters = [chapter_of(snapshot) for snapshot in snapshots]
    blocks = [
        f"# Sweep report: {markdown_text(', '.join(one_line(c.name) for c in chapters))}",
        f"Made {show_moment(now)}.",
        *(_image(drawing, link) for drawing, link in images),
        *(block for chapter in chapters for block in _chapter(chapter)),
    ]
    return "\n\n".join(block.rstrip("\n") for block in blocks if block) + "\n"


def _image(drawing: "Drawing", link: str) -> str:
    return f"![{markdown_text(drawing.title)}]({quote(link)})\n\n{markdown_text(drawing.caption)}"


def _chapter(chapter: Chapter) -> Iterable[str]:
    yield f"## Study {markdown_text(one_line(chapter.name))} ({chapter.state})"
    yield markdown_text(one_line(chapter.description))
    yield f"**{markdown_text(chapter.headline)}**"
    yield _facts(chapter.best)
    yield _facts(chapter.facts)
    yield "\n".join(f"> - {markdown_text(caveat)}" for caveat in chapter.caveats)
    yield from _listed("Not finished", chapter.unfinished)
    if chapter.leaders is not None:
        yield from _table(chapter.leaders, chapter)
    for table in chapter.by_param:
        yield from _table(table, chapter)
    yield from _listed("Failures", [failure_line(each) for each in chapter.failures])
    for title, facts in (
        ("Search space", chapter.space),
        ("Recipe", chapter.recipe),
        ("Versions", chapter.origin),
    ):
        yield f"### {title}"
        yield _facts(facts)


def _listed(title: str, lines: Sequence[str]) -> Iterable[str]:
    if lines:
        yield f"### {title}"
        yield "\n".join(f"- {markdown_text(line)}" for line in lines)


def _facts(facts: Facts) -> str:
    return "\n".join(
        f"- {markdown_text(one_line(name))}: {markdown_text(one_line(value))}"
        for name, value in facts
    )


def _table(table: Table, chapter: Chapter) -> Iterable[str]:
    yield f"### {markdown_text(table.title)}"
    yield markdown_text(table.note)
    yield to_markdown(table.frame, chapter.kinds)

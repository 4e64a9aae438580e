"""Report: studies as one HTML page that needs no network, neither to be read nor to be drawn."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

from plotly.io import to_html

from sweep.records import Snapshot
from sweep.views.browser import PLOT_CONFIG, plotly_library
from sweep.views.chapter import Chapter, Table, chapter_of, failure_line
from sweep.views.display import one_line, show_moment
from sweep.views.fact_markup import cards_markup, listed_markup
from sweep.views.gallery import GALLERY, Blank, Drawing, draw, draw_studies
from sweep.views.markup import Markup, element, joined
from sweep.views.recipe_facts import Facts
from sweep.views.table_markup import table_markup

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def html_report(snapshots: Sequence[Snapshot], now: datetime) -> str:
    """The report as one page with everything in it: style, figures and the library they need."""
    chapters = [chapter_of(snapshot) for snapshot in snapshots]
    title = f"Sweep report: {', '.join(one_line(chapter.name) for chapter in chapters)}"
    body = [
        element("h1", title),
        element("p", f"Made {show_moment(now)}.", class_="soft"),
        _compared(chapters),
        *(_chapter(chapter, index) for index, chapter in enumerate(chapters)),
    ]
    return f'<!DOCTYPE html>\n<html lang="en">{_head(title)}{element("body", *body)}</html>\n'


def _head(title: str) -> Markup:
    style = files("sweep.views").joinpath("report.css").read_text(encoding="utf-8")
    return joined(
        [
            Markup('<head><meta charset="utf-8">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", title),
            element("style", Markup(style)),
            element("script", Markup(plotly_library())),
            Markup("</head>"),
        ]
    )


def _chapter(chapter: Chapter, index: int) -> Markup:
    state = element("span", f"({chapter.state})", class_="state")
    pieces = [
        element("h2", f"Study {one_line(chapter.name)} ", state),
        element("p", chapter.description) if chapter.description else "",
        element("p", chapter.headline, class_="headline"),
        cards_markup(chapter.best, "facts best"),
        cards_markup(chapter.facts, "facts"),
        _caveats(chapter.caveats),
        listed_markup("Not finished", chapter.unfinished),
        *_tables([chapter.leaders] if chapter.leaders else [], chapter),
        listed_markup("Failures", [failure_line(each) for each in chapter.failures]),
        *_figures(chapter, index),
        *_tables(chapter.by_param, chapter),
        *_background(chapter),
    ]
    return element("section", *pieces)


def _caveats(lines: Iterable[str]) -> str:
    items = [element("li", line) for line in lines]
    return element("ul", *items, class_="caveats") if items else ""


def _figures(chapter: Chapter, index: int) -> list[str]:
    drawn = [draw(kind, chapter.subject) for kind in GALLERY]
    figures = [_figure(each, index) for each in drawn if isinstance(each, Drawing)]
    blanks = [element("li", f"{b.title}: {b.reason}.") for b in drawn if isinstance(b, Blank)]
    missing = element("ul", *blanks, class_="soft") if blanks else ""
    return [element("h3", "Figures"), *figures, missing]


def _figure(drawing: Drawing, index: int) -> Markup:
    title = element("strong", f"{drawing.title}. ")
    caption = element("figcaption", title, drawing.caption)
    plot = _plot(drawing.figure, f"{drawing.name}-{index}")
    height = f"height: {drawing.figure.layout.height}px"
    return element("figure", caption, element("div", plot, class_="plot", style=height))


def _compared(chapters: Sequence[Chapter]) -> Markup:
    """Several studies over each other, in front of the studies themselves."""
    if len(chapters) < 2:
        return Markup("")
    drawn = draw_studies([chapter.subject for chapter in chapters])
    if isinstance(drawn, Blank):
        return element("p", f"{drawn.title}: {drawn.reason}.", class_="soft")
    return element("section", element("h2", "Several studies"), _figure(drawn, 0))


def _plot(figure: Any, name: str) -> Markup:
    text = to_html(
        figure, config=PLOT_CONFIG, include_plotlyjs=False, full_html=False, div_id=name
    )
    return Markup(text)


def _tables(tables: Iterable[Table], chapter: Chapter) -> list[Markup]:
    return [
        joined(
            [
                element("h3", table.title),
                element("p", table.note, class_="soft"),
                table_markup(table.frame, chapter.kinds),
            ]
        )
        for table in tables
    ]


def _background(chapter: Chapter) -> list[Markup]:
    """What only some readers want, folded up."""
    pieces = [
        _folded("Search space", _fact_table(chapter.space)),
        _folded("Recipe", _fact_table(chapter.recipe)),
        _folded("Versions", _fact_table(chapter.origin)),
    ]
    if chapter.trials is not None:
        note = element("p", chapter.trials.note, class_="soft")
        pieces.insert(
            0,
            _folded(chapter.trials.title, note, table_markup(chapter.trials.frame, chapter.kinds)),
        )
    return pieces


def _folded(title: str, *content: Markup) -> Markup:
    return element("details", element("summary", title), *content)


def _fact_table(facts: Facts) -> Markup:
    rows = [element("tr", element("td", name), element("td", value)) for name, value in facts]
    table = element("table", element("tbody", *rows), class_="plain")
    return element("div", table, class_="scroll")

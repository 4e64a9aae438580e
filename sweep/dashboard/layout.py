"""Layout: the frame of every page of ours, and the page that says why there is none."""

from collections.abc import Sequence

from sweep.dashboard.answer import Answer, page
from sweep.dashboard.assets import asset_path
from sweep.views.display import one_line
from sweep.views.markup import Markup, element, joined, void

OPTUNA = "/dashboard"
_NOTHING = Markup("")


def whole_page(title: str, *content: str, poll: str | None = None, study: str = "") -> Answer:
    """A page; where `poll` is a path, its pieces are asked for again once that says so.

    `study` is the path below which the trials that a figure's points lead to are found.
    """
    return page(_document(title, content, poll, study))


def message_page(
    status: str, message: str, back: tuple[str, str] = ("/", "All studies"), *, again: bool = False
) -> Answer:
    """A page with one message and a way back; with `again` it asks anew after some seconds."""
    path, label = back
    content = [
        element("h1", status.partition(" ")[2]),
        element("p", one_line(message), class_="message"),
        element("p", element("a", label, href=path)),
    ]
    refresh = Markup('<meta http-equiv="refresh" content="5">') if again else _NOTHING
    return page(_document(status, content, None, "", refresh), status)


def live(path: str, first: str | Markup = "", name: str = "section") -> Markup:
    """A piece of a page that is fetched from the path, and again when the study has changed."""
    return element(name, first, data_fragment=path)


def _document(
    title: str,
    content: Sequence[str],
    poll: str | None,
    study: str,
    more: Markup = _NOTHING,
) -> str:
    shown = (_header(), element("main", *content))
    body = element("body", *shown, data_poll=poll or "", data_study=study)
    return f'<!DOCTYPE html>\n<html lang="en">{_head(title, more)}{body}</html>\n'


def _head(title: str, more: Markup) -> Markup:
    return joined(
        [
            Markup('<head><meta charset="utf-8">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup('<meta name="color-scheme" content="light dark">'),
            element("title", f"{one_line(title)} - sweep"),
            *(_linked("stylesheet", asset_path(name)) for name in ("report.css", "pages.css")),
            _linked("icon", asset_path("icon.svg")),
            element("script", src=asset_path("pages.js"), defer=""),
            more,
            Markup("</head>"),
        ]
    )


def _linked(rel: str, path: str) -> Markup:
    return void("link", rel=rel, href=path)


def _header() -> Markup:
    return element(
        "header",
        element("a", "sweep", href="/", class_="home"),
        element("a", "Studies", href="/"),
        element("a", "Optuna's dashboard", href=OPTUNA),
        element("span", id="live", role="status"),
    )

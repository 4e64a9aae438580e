"""Image: figures as PNG, SVG or PDF, drawn by a Chrome or Chromium that kaleido drives."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import plotly.graph_objects as go

from sweep.errors import UnusableError
from sweep.views.gallery import Drawing

FORMS = ("png", "svg", "pdf")
_WIDTH = 1000
_TITLE_HEIGHT = 40
_SCALE = 2
_TIMEOUT_S = 90
_INK, _PAPER = "#1c1f23", "#ffffff"
_NO_CHROME = (
    "no Chrome or Chromium was found, which draws the images; install one "
    "(apt-get install chromium), or name it in BROWSER_PATH"
)


def images_of(drawings: Sequence[Drawing], form: str) -> list[bytes]:
    """Each drawing as the bytes of a png, svg or pdf, 1000 px wide (a png has twice the pixels).

    Raises UnusableError when kaleido is not installed, or there is no browser that works.
    """
    kaleido = _kaleido()
    from choreographer.errors import BrowserFailedError, ChromeNotFoundError

    try:
        # In a thread, since a notebook has a loop of its own in this one.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, _drawn(kaleido, drawings, form)).result()
    except ChromeNotFoundError as error:
        raise UnusableError(_NO_CHROME) from error
    except BrowserFailedError as error:
        raise UnusableError(
            "the browser that draws the images does not start; name another in BROWSER_PATH"
        ) from error


def _kaleido() -> Any:
    try:
        import kaleido
    except ImportError as error:
        raise UnusableError(
            "images need kaleido, which is not installed: pip install 'sweep-trials[image]'"
        ) from error
    return kaleido


async def _drawn(kaleido: Any, drawings: Sequence[Drawing], form: str) -> list[bytes]:
    """All of them by one browser; without mathjax, which would be fetched from the network.

    What goes wrong inside its own tasks, as when the browser ends, is none of the user's business:
    what cannot be drawn is raised here.
    """
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    async with kaleido.Kaleido(n=1, mathjax=False, timeout=_TIMEOUT_S) as browser:
        return [await _image(browser, drawing, form) for drawing in drawings]


async def _image(browser: Any, drawing: Drawing, form: str) -> bytes:
    figure = on_paper(drawing)
    size = {"width": _WIDTH, "height": figure.layout.height, "scale": _SCALE}
    data: bytes = await browser.calc_fig(figure.to_dict(), opts={"format": form, **size})
    return data


def on_paper(drawing: Drawing) -> go.Figure:
    """The figure with dark ink on white paper, under its title."""
    figure = go.Figure(drawing.figure)
    margin = figure.layout.margin.t + _TITLE_HEIGHT
    return figure.update_layout(
        paper_bgcolor=_PAPER,
        font={"color": _INK},
        title={"text": drawing.title, "x": 0.01, "y": 0.98, "yanchor": "top"},
        height=figure.layout.height + _TITLE_HEIGHT,
        margin={"t": margin},
    )

"""Browser: what a page needs to draw figures: the library, its settings, a figure as JSON."""

import json
from typing import Any

from plotly.offline import get_plotlyjs
from plotly.utils import PlotlyJSONEncoder

from sweep.views.gallery import Blank, Drawing

PLOT_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
    # Plotly 7 has a button that uploads a figure to its makers; a figure stays where it is.
    "showSendToCloud": False,
}


def plotly_library() -> str:
    """plotly.js, as its Python package brings it: some 4.8 million characters of JavaScript."""
    return str(get_plotlyjs())


def drawn_json(drawn: Drawing | Blank) -> str:
    """A figure with its words as one JSON object, or the reason why there is none.

    Strict: what is no finite number is null.
    """
    if isinstance(drawn, Blank):
        words = {"name": drawn.name, "title": drawn.title, "reason": drawn.reason}
        return json.dumps(words, allow_nan=False)
    content = {
        "name": drawn.name,
        "title": drawn.title,
        "caption": drawn.caption,
        "figure": drawn.figure.to_plotly_json(),
        "config": PLOT_CONFIG,
    }
    return json.dumps(content, cls=PlotlyJSONEncoder)

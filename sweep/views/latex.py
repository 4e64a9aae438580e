"""LaTeX: a table as a plain tabular that needs no package, with numbers as on a screen."""

from collections.abc import Mapping

import pandas as pd

from sweep.views.columns import Kind
from sweep.views.display import one_line
from sweep.views.formats import is_text_column, shown_columns

_MARKS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


def to_tex(frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None) -> str:
    """The table as a LaTeX tabular, to be read with \\input; numbers stand to the right."""
    names = [str(name) for name in frame.columns]
    sides = "".join("l" if is_text_column(frame, name) else "r" for name in names)
    cells = [[tex_text(cell) for cell in column] for column in shown_columns(frame, kinds)]
    header = [tex_text(one_line(name)) for name in names]
    rows = [f"{' & '.join(row)} \\\\\n" for row in zip(*cells, strict=True)]
    return "".join(
        (
            f"\\begin{{tabular}}{{{sides}}}\n\\hline\n",
            f"{' & '.join(header)} \\\\\n\\hline\n",
            *rows,
            "\\hline\n\\end{tabular}\n",
        )
    )


def tex_text(text: str) -> str:
    """Text that LaTeX sets as it is. A row that begins with a bracket is no option of the last."""
    escaped = "".join(_MARKS.get(character, character) for character in text)
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped[:1] in ("[", "*") else escaped

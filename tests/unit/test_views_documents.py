"""LaTeX, Excel and images: what another program reads as it was meant."""

import io
import shutil
import subprocess
import sys

import openpyxl
import pandas as pd
import pytest

from sweep.errors import UnusableError, UsageError
from sweep.views import workbook
from sweep.views.columns import Kind
from sweep.views.gallery import Drawing, draw, kind_named
from sweep.views.images import images_of, on_paper
from sweep.views.latex import tex_text, to_tex
from sweep.views.series.subject import subject_of
from sweep.views.tables import trials_table
from tests.snapshots import lr_batch_study


def test_a_table_for_latex_needs_no_package_and_stands_by_kind() -> None:
    frame = pd.DataFrame({"name_1": ["a&b", None], "test_accuracy": [0.5, float("nan")]})
    assert to_tex(frame) == (
        "\\begin{tabular}{lr}\n\\hline\nname\\_1 & test\\_accuracy \\\\\n\\hline\n"
        "a\\&b & 50.00\\% \\\\\n &  \\\\\n\\hline\n\\end{tabular}\n"
    )


@pytest.mark.parametrize(
    ("text", "set_as"),
    [
        ("\\input{/etc/passwd}", "\\textbackslash{}input\\{/etc/passwd\\}"),
        ("50% $x$ #1 a_b ~ ^", "50\\% \\$x\\$ \\#1 a\\_b \\textasciitilde{} \\textasciicircum{}"),
        ("[1pt]", "{[}1pt]"),
        ("*", "{*}"),
        ("名", "名"),
        ("", ""),
    ],
)
def test_latex_sets_a_users_text_as_it_is(text: str, set_as: str) -> None:
    assert tex_text(text) == set_as


def sheet_of(frame: pd.DataFrame, **kinds: Kind) -> "openpyxl.worksheet.worksheet.Worksheet":
    return openpyxl.load_workbook(io.BytesIO(workbook.to_xlsx(frame, kinds))).active


def test_a_workbook_has_the_exact_numbers_under_a_fixed_header() -> None:
    frame = trials_table([lr_batch_study()])
    sheet = sheet_of(frame)
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == tuple(frame.columns)
    last = openpyxl.utils.get_column_letter(len(frame.columns))
    assert rows[2][:5] == ("lr_bs", 1, "complete", None, 0.92)
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", f"A1:{last}{len(frame) + 1}")
    assert sheet["A1"].font.bold
    assert sheet["I2"].number_format == "0.00%"


def test_a_text_is_no_formula_and_has_no_control_characters() -> None:
    sheet = sheet_of(pd.DataFrame({"=1+1": ["=HYPERLINK(1)", "a\x07b"], "flag": [True, None]}))
    assert (sheet["A1"].data_type, sheet["A2"].data_type) == ("s", "s")
    assert sheet["A2"].value == "=HYPERLINK(1)"
    assert sheet["A3"].value == "a\\x07b"
    assert (sheet["B2"].value, sheet["B3"].value) == (True, None)


def test_an_objective_that_is_an_accuracy_is_shown_in_percent() -> None:
    frame = pd.DataFrame({"value": [0.5]})
    assert sheet_of(frame)["A2"].number_format == "General"
    assert sheet_of(frame, value=Kind.ACCURACY)["A2"].number_format == "0.00%"


def test_a_sheet_that_would_be_cut_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_ROWS", 1)
    with pytest.raises(UsageError, match=r"2 rows.*export it as csv"):
        workbook.to_xlsx(pd.DataFrame({"a": [1, 2]}))


@pytest.mark.parametrize(
    ("library", "code", "said"),
    [
        (
            "openpyxl",
            "import pandas as pd, sweep.views.workbook as w; w.to_xlsx(pd.DataFrame())",
            "pip install 'sweep-trials[excel]'",
        ),
        (
            "kaleido",
            "import sweep.views.images as i; i.images_of([], 'png')",
            "pip install 'sweep-trials[image]'",
        ),
    ],
)
def test_without_its_library_a_form_says_how_to_get_it(library: str, code: str, said: str) -> None:
    program = (
        f"import sys; sys.modules['{library}'] = None\n"
        f"from sweep.errors import UnusableError\ntry:\n    {code}\n"
        "except UnusableError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert said in done.stdout, done.stderr


def drawing() -> Drawing:
    drawn = draw(kind_named("lr"), subject_of(lr_batch_study()))
    assert isinstance(drawn, Drawing)
    return drawn


def test_an_image_has_dark_ink_on_white_paper_and_a_title() -> None:
    on_screen = drawing()
    figure = on_paper(on_screen)
    assert figure.layout.paper_bgcolor == "#ffffff"
    assert figure.layout.title.text == "Learning rate"
    assert on_screen.figure.layout.title.text is None


def test_without_a_browser_an_image_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chromium")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnusableError, match=r"no Chrome or Chromium was found.*BROWSER_PATH"):
        images_of([drawing()], "png")


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@needs_chromium
@pytest.mark.parametrize(
    ("form", "begin"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF-")]
)
def test_an_image_is_drawn_in_each_form(form: str, begin: bytes) -> None:
    (data,) = images_of([drawing()], form)
    assert data.startswith(begin)
    if form == "svg":
        assert b"Learning rate" in data

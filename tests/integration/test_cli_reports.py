"""`sweep report` and the forms of `sweep export`: every study has its files, whatever is in it."""

import io
import shutil
from pathlib import Path

import openpyxl
import pytest

from sweep.records import Snapshot
from sweep.views.gallery import GALLERY
from tests.console_script import answered, sweep
from tests.filled_store import fill_store
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
LONG = "名" * 200


def _many() -> Snapshot:
    builder = SnapshotBuilder(make_spec({"lr": [0.1, 0.2], "batch_size": [32, 64]}, name="many"))
    for index in range(12):
        builder.complete(index / 20, lr=0.1 + index / 100, batch_size=32 * (1 + index % 2))
    return builder.build()


def _conditional() -> Snapshot:
    spec = make_spec({"optimizer": ["sgd", "adam"], "momentum": [0.1, 0.9]}, name="conditional")
    builder = SnapshotBuilder(spec).complete(0.5, optimizer="sgd", momentum=0.9)
    return builder.complete(0.6, optimizer="adam").build()


def _of(name: str, **params: list[object]) -> SnapshotBuilder:
    return SnapshotBuilder(make_spec(params or {"lr": [0.1]}, name=name))


STUDIES = {
    "no trial": _of("no_trial").build(),
    "one trial": _of("one").complete(0.5, lr=0.1).build(),
    "all failed": _of("failed").failed(lr=0.1).failed(0.2, lr=0.1).build(),
    "only pruned": _of("pruned").pruned(0.2, lr=0.1).build(),
    "conditional": _conditional(),
    "a metric of 0": _of("zero").complete(0.0, lr=0.1).complete(0.0, lr=0.1).build(),
    "long names": _of("长名字", **{LONG: [LONG, "短"]})
    .complete(0.5, **{LONG: LONG})
    .complete(0.6, **{LONG: "短"})
    .build(),
    "many": _many(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that has all of these studies."""
    place = tmp_path_factory.mktemp("reports")
    for snapshot in (*STUDIES.values(), lr_batch_study()):
        fill_store(f"sqlite:///{place}/runs/sweep.db", snapshot)
    return place


@pytest.mark.parametrize("study", STUDIES)
def test_a_report_comes_out_of_every_study(folder: Path, study: str) -> None:
    name = STUDIES[study].study.name
    for output in ("report.html", "report.md"):
        done = sweep(folder, "report", "--study", name, "-o", output)
        assert (done.returncode, done.stderr) == (0, f"wrote {output}\n")
        assert name in (folder / output).read_text()


def test_a_report_says_what_it_has_nothing_to_draw_for(folder: Path) -> None:
    sweep(folder, "report", "--study", "failed", "-o", "report.html")
    page = (folder / "report.html").read_text()
    assert "History: no trial has a value yet." in page
    assert "Importance of the params: it takes 10 complete trials; there are 0." in page


def test_several_studies_stand_in_one_report_and_over_each_other(folder: Path) -> None:
    done = sweep(folder, "report", "--study", "lr_bs", "--study", "many", "-o", "report.html")
    assert done.returncode == 0
    page = (folder / "report.html").read_text()
    assert 'id="studies-0"' in page
    assert page.count("<h2>Study ") == 2


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_an_image_is_drawn_and_a_markdown_report_shows_it(folder: Path) -> None:
    done = sweep(folder, "report", "--study", "lr_bs", "-o", "pull.md", "--image", "plot.png")
    assert (done.returncode, done.stderr) == (0, "wrote pull.md\nwrote plot.png\n")
    assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert "![Batch size](plot.png)" in (folder / "pull.md").read_text()


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_of_several_figures_each_image_has_its_name_and_blanks_are_said(folder: Path) -> None:
    figures = ("--figure", "lr", "--figure", "importance", "--figure", "history")
    done = sweep(folder, "report", "--study", "lr_bs", "--image", "each.svg", *figures)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "no image of importance: it takes 10 complete trials; there are 4",
        "wrote each-lr.svg",
        "wrote each-history.svg",
    ]
    assert b"<svg" in (folder / "each-lr.svg").read_bytes()[:200]


def test_a_figure_asked_for_by_its_name_that_cannot_be_drawn_is_no_success(folder: Path) -> None:
    asked = ("report", "--study", "no_trial", "-o", "named.md", "--image", "named.svg", "--figure")
    said = "no image of studies: it takes two studies or more\nwrote named.md\n"
    done = sweep(folder, *asked, "studies")
    assert (done.returncode, done.stderr) == (1, said)
    done = sweep(folder, *asked, "all")
    assert (done.returncode, done.stderr.count("no image of ")) == (0, len(GALLERY))


def test_a_study_without_anything_has_no_image_and_says_so(folder: Path) -> None:
    done = sweep(folder, "report", "--study", "no_trial", "--image", "nothing.png")
    assert (done.returncode, (folder / "nothing.png").exists()) == (0, False)
    assert done.stderr.startswith("no image of batch_size: ")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "nothing is asked for: give -o report.html, or --image plot.png"),
        (("-o", "a.pdf"), "-o a.pdf ends in none of .html, .htm, .md"),
        (("--image", "a.gif"), "--image a.gif ends in none of .png, .svg, .pdf"),
        (("-o", "a.md", "--figure", "lr"), "--figure is for --image"),
        (("--image", "a.png", "--figure", "curvs"), "no figure 'curvs'; did you mean curves?"),
    ],
)
def test_flags_that_ask_for_nothing_are_refused_in_one_line(
    folder: Path, flags: tuple[str, ...], said: str
) -> None:
    done = sweep(folder, "report", "--study", "lr_bs", *flags)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_browser_the_report_is_written_and_the_image_refused(folder: Path) -> None:
    done = sweep(
        *(folder, "report", "--study", "lr_bs", "-o", "alone.html", "--image", "alone.png"),
        BROWSER_PATH="/nowhere/chromium",
    )
    assert done.returncode == 4
    assert done.stderr.splitlines()[0] == "wrote alone.html"
    assert "no Chrome or Chromium was found" in done.stderr


def test_a_table_is_exported_for_latex_and_excel_by_the_files_ending(folder: Path) -> None:
    shown = answered(folder, "export", "--study", "lr_bs", "--by", "batch_size", "--format", "tex")
    assert shown.startswith("\\begin{tabular}{r")
    for name in ("t.tex", "t.xlsx"):
        assert sweep(folder, "export", "--study", "lr_bs", "-o", name).returncode == 0
    assert "lr\\_bs & 0 & complete" in (folder / "t.tex").read_text()
    sheet = openpyxl.load_workbook(io.BytesIO((folder / "t.xlsx").read_bytes())).active
    assert [cell.value for cell in sheet["B"]] == ["trial", 0, 1, 2, 3, 4, 5]


def test_excel_wants_a_file(folder: Path) -> None:
    done = sweep(folder, "export", "--study", "lr_bs", "--format", "xlsx")
    assert done.returncode == 2
    assert "write it to a file, such as -o trials.xlsx" in done.stderr

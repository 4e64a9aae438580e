"""CSV, JSON, Markdown and text: the bytes that leave the program."""

import io
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.records import ParamValue
from sweep.views.by_table import by_table
from sweep.views.columns import Kind
from sweep.views.display import (
    one_line,
    shorten,
    show_duration,
    show_number,
    show_param,
    show_scale,
    width_of,
)
from sweep.views.formats import shown_columns, to_csv, to_csv_with_bom, to_json, to_markdown
from sweep.views.selection import with_columns
from sweep.views.table_markup import table_markup
from sweep.views.tables import shown_kinds, trials_table, value_cells
from sweep.views.text_table import to_text
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec

AWKWARD = ["a,b", 'say "hi"', "two\nlines", "dos\r\nlines", "  spaces ", "学习率 ÆØÅ", "one\rtwo"]


def text_frame(*cells: str | None, name: str = "text") -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells, dtype="str"), "n": range(len(cells))})


def read(data: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(data), keep_default_na=False)


def test_text_with_commas_quotes_newlines_and_unicode_survives_pandas() -> None:
    assert read(to_csv(text_frame(*AWKWARD))).text.tolist() == AWKWARD


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)))
def test_any_text_survives_pandas_but_for_the_apostrophe_of_a_formula(cells: list[str]) -> None:
    found = pd.read_csv(
        io.BytesIO(to_csv(text_frame(*cells))), keep_default_na=False, dtype={"text": "str"}
    ).text.tolist()
    assert [cell.removeprefix("'") for cell in found] == [c.removeprefix("'") for c in cells]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_a_spreadsheet_would_run_is_defused(start: str) -> None:
    assert read(to_csv(text_frame(f"{start}cmd"))).text.tolist() == [f"'{start}cmd"]


def test_negative_numbers_are_not_defused() -> None:
    frame = pd.DataFrame({"x": [-1.5], "n": pd.Series([-2], dtype="Int64")})
    assert to_csv(frame) == b"x,n\n-1.5,-2\n"


def test_a_column_name_that_would_run_is_defused() -> None:
    assert to_csv(text_frame("a", name="=1+1")).startswith(b"'=1+1,n\n")


def test_whole_numbers_have_no_point_and_floats_are_the_shortest_that_read_back() -> None:
    frame = pd.DataFrame({"n": pd.Series([64, None], dtype="Int64"), "x": [0.1 + 0.2, 1e-5]})
    assert to_csv(frame) == b"n,x\n64,0.30000000000000004\n,1e-05\n"


def test_missing_cells_are_empty_also_where_they_are_alone() -> None:
    assert to_csv(pd.DataFrame({"x": [1.5, None]})) == b'x\n1.5\n""\n'
    assert to_csv(text_frame(None, "a")) == b"text,n\n,0\na,1\n"


def test_a_byte_order_mark_is_written_on_demand_and_pandas_passes_over_it() -> None:
    data = to_csv_with_bom(text_frame("é"))
    assert data.startswith(b"\xef\xbb\xbftext,n\n")
    assert read(data).columns.tolist() == ["text", "n"]


def test_switches_are_true_and_false_in_csv_and_json() -> None:
    frame = pd.DataFrame({"flag": value_cells([True, None, False]), "n": [1, 2, 3]})
    assert to_csv(frame) == b"flag,n\ntrue,1\n,2\nfalse,3\n"
    assert [row["flag"] for row in json.loads(to_json(frame))] == [True, None, False]


def test_a_param_of_whole_numbers_beyond_64_bits_stays_exact() -> None:
    assert to_csv(pd.DataFrame({"n": value_cells([2**70]), "m": [1]})) == b"n,m\n%d,1\n" % 2**70


def test_a_param_of_numbers_and_text_stays_as_it_is() -> None:
    assert to_csv(pd.DataFrame({"x": value_cells([1, "auto"]), "n": [1, 2]})) == (
        b"x,n\n1,1\nauto,2\n"
    )


def test_json_is_strict_and_keeps_text_exact() -> None:
    frame = text_frame("=cmd", None).assign(x=[float("nan"), float("inf")])
    text = to_json(frame)
    assert json.loads(text, parse_constant=pytest.fail) == [
        {"text": "=cmd", "n": 0, "x": None},
        {"text": None, "n": 1, "x": None},
    ]


def test_the_json_keys_are_the_column_names() -> None:
    frame = trials_table([lr_batch_study()])
    assert list(json.loads(to_json(frame))[0]) == list(frame.columns)


def test_csv_of_trials_reads_back_with_the_same_numbers() -> None:
    frame = trials_table([lr_batch_study()])
    back = pd.read_csv(io.BytesIO(to_csv(frame)))
    for name in ("batch_size", "lr", "test_accuracy", "epoch_s", "cost"):
        assert back[name].dropna().tolist() == frame[name].dropna().tolist()


def test_markdown_shows_percentages_and_escapes_what_it_would_interpret() -> None:
    frame = pd.DataFrame({"test_accuracy": [0.97222], "p": ["a|b <i> `c` _d_ e_f"]})
    assert to_markdown(frame) == (
        "| test_accuracy | p |\n| ---: | --- |\n| 97.22% | a\\|b &lt;i&gt; \\`c\\` \\_d\\_ e_f |\n"
    )


def test_text_tables_fit_the_terminal_and_name_what_is_left_out() -> None:
    text = to_text(trials_table([lr_batch_study()]))
    assert max(width_of(line) for line in text.splitlines()) <= 80
    assert "columns not shown: " in text
    assert "90.00%" in text


@given(st.integers(20, 200))
def test_text_tables_fit_any_width(width: int) -> None:
    text = to_text(trials_table([lr_batch_study()]), width=width)
    assert max(width_of(line) for line in text.splitlines()) <= width


def test_columns_that_were_asked_for_by_name_stay_where_they_have_room() -> None:
    table = with_columns(trials_table([lr_batch_study()]), ["study", "trial", "cause", "value"])
    header, first = to_text(table, 40, {"value": Kind.ACCURACY}).splitlines()[:2]
    assert header.split() == ["study", "trial", "cause", "value"]
    assert first.split() == ["lr_bs", "0", "90.00%"]
    assert to_text(table, 16).endswith("\n2 columns not\nshown: cause,\nvalue\n")


def test_numbers_stand_right_and_text_left() -> None:
    frame = pd.DataFrame({"optimizer": ["sgd", "rmsprop"], "lr": [0.1, 0.001]})
    assert to_text(frame) == "optimizer     lr\nsgd          0.1\nrmsprop    0.001\n"


def test_wide_characters_keep_the_columns_straight() -> None:
    frame = pd.DataFrame({"名": ["学习", "a"], "n": [1, 2]})
    assert to_text(frame) == "名    n\n学习  1\na     2\n"


def test_the_objective_is_not_shown_twice() -> None:
    snapshot = SnapshotBuilder(make_spec({"lr": [0.1]})).complete(0.5, lr=0.1).build()
    accuracy = {"value": Kind.ACCURACY}
    table = trials_table([snapshot])
    assert "value" not in to_text(table, kinds=accuracy).split()
    assert "value" in to_text(table, kinds={"value": Kind.NUMBER}).split()


def test_a_table_without_rows_is_its_header() -> None:
    assert to_text(pd.DataFrame({"lr": []})) == "lr\n"


def test_escape_sequences_never_reach_the_terminal() -> None:
    text = to_text(text_frame("\x1b[2Jgone\nnext"))
    assert "\x1b" not in text
    assert "\\x1b[2Jgone\\nnext" in text


def test_display_cuts_and_writes_out() -> None:
    assert one_line("a\tb") == "a\\tb"
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("学习率", 5) == "学习…"
    assert [show_duration(s) for s in (8.24, 245, 7380, 273_600)] == [
        *("8.2 s", "4 min 05 s", "2 h 03 min", "3 d 04 h"),
    ]


@pytest.mark.parametrize(("fewest", "is_shown"), [(128, False), (64, True)])
def test_the_images_at_once_are_shown_where_they_are_not_the_batch_size(
    fewest: int, is_shown: bool
) -> None:
    builder = SnapshotBuilder(make_spec({"batch_size": [32, 128]}))
    builder.complete(0.5, batch_size=32, epochs={"micro_batch": 32})
    builder.complete(0.6, batch_size=128, epochs={"micro_batch": fewest})
    lines = to_text(trials_table([builder.build()]), width=200).splitlines()
    assert ("micro_" in lines[0] or "micro_" in lines[1]) is is_shown


def test_a_number_that_rounds_to_ten_thousand_is_written_in_full() -> None:
    assert [show_number(n) for n in (9_999.7, 9_999.4, 10_000.2)] == ["10000", "9999", "10000"]
    assert [show_duration(s) for s in (59.94, 59.97)] == ["59.9 s", "1 min 00 s"]


def test_a_param_is_shown_with_as_many_digits_as_it_takes_not_to_be_another_number() -> None:
    shown = [show_param(v) for v in (0.9999, 0.99999, 0.999999, 0.123456, 1.0234567, 64.0, 1e-05)]
    assert shown == ["0.9999", "0.99999", "0.999999", "0.123456", "1.02346", "64", "1e-05"]
    assert [show_param(v) for v in (0.0123456789, 123456.789)] == ["0.01235", "123457"]
    assert [show_param(v) for v in (float("inf"), float("nan"), None, True)] == [
        *("inf", "", "", "true"),
    ]


def test_numbers_along_a_scale_can_be_told_apart() -> None:
    assert show_scale([1000.0, 1005.0, 1010.0]) == ["1000", "1005", "1010"]
    assert show_scale([0.1, 0.31622776, 1.0]) == ["0.1", "0.316", "1"]
    assert show_scale([0.9990, 0.9992, 0.9994]) == ["0.999", "0.9992", "0.9994"]
    assert [show_scale(numbers) for numbers in ([], [7.0])] == [[], ["7"]]


def test_a_table_shows_a_param_as_its_values_are_whatever_it_is_called() -> None:
    builder = SnapshotBuilder(
        make_spec({"ema_decay": [0.9999, 0.99999], "target_accuracy": [0.5, 0.9]})
    )
    builder.complete(0.5, ema_decay=0.9999, target_accuracy=0.5)
    builder.complete(0.6, ema_decay=0.99999, target_accuracy=0.9)
    snapshot = builder.build()
    kinds = shown_kinds([snapshot])
    (values,) = shown_columns(by_table([snapshot], "ema_decay")[["ema_decay"]], kinds)
    assert values == ["0.9999", "0.99999"]
    markup = table_markup(by_table([snapshot], "ema_decay"), kinds)
    assert 'title="ema_decay: a value of the param"' in markup
    (values,) = shown_columns(by_table([snapshot], "target_accuracy")[["target_accuracy"]], kinds)
    assert values == ["0.5", "0.9"]


@pytest.mark.parametrize(
    ("choices", "shown"),
    [
        ([0.1, 0.1000001, 0.5], ["0.1", "0.1000001", "0.5"]),
        ([1, "1"], ["1", "'1'"]),
        ([True, "true"], ["true", "'true'"]),
    ],
)
def test_no_two_values_of_a_param_look_the_same_in_a_table(
    choices: list[ParamValue], shown: list[str]
) -> None:
    builder = SnapshotBuilder(make_spec({"x": choices}))
    for choice in choices:
        builder.complete(0.5, x=choice)
    snapshot = builder.build()
    (cells,) = shown_columns(by_table([snapshot], "x")[["x"]], shown_kinds([snapshot]))
    assert cells == shown
    (cells,) = shown_columns(trials_table([snapshot])[["x"]], shown_kinds([snapshot]))
    assert cells == shown

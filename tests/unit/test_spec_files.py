"""Files: what is no study file at all, and where a study's file is found."""

import os
from pathlib import Path

import pytest
from study_texts import GOOD, changed, problems_of

from sweep.errors import NotFoundError, StudyFileError
from sweep.spec.find import shipped_studies
from sweep.spec.load import find_study_file, load_study_file


def refusal_of(path: Path) -> str:
    with pytest.raises(StudyFileError) as caught:
        load_study_file(path)
    return str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    message = f"{path}: cannot be read (no such file or directory); check the path"
    assert refusal_of(path) == message


def test_a_folder_is_no_study_file(tmp_path: Path) -> None:
    assert refusal_of(tmp_path) == f"{tmp_path}: a folder; name a study file in it"


def test_a_pipe_is_no_study_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert refusal_of(path) == f"{path}: no regular file; name a study file"


def test_a_path_that_no_system_takes_is_named(tmp_path: Path) -> None:
    assert refusal_of(Path("a\0b")).endswith("cannot be read (no usable path); check the path")
    assert "cannot be read (file name too long)" in refusal_of(tmp_path / ("x" * 300))


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "~\n"])
def test_an_empty_file_says_how_to_begin(tmp_path: Path, text: str) -> None:
    expected = ["1: an empty file; write a study in it, or run: sweep init"]
    assert problems_of(tmp_path, text) == expected


def test_a_list_or_a_word_at_the_top_is_no_study(tmp_path: Path) -> None:
    expected = "1: [a, b] at the top; a study file is keys with values"
    assert problems_of(tmp_path, "- a\n- b\n") == [expected]
    expected = "1: the text 'quickstart' at the top; a study file is keys with values"
    assert problems_of(tmp_path, "quickstart\n") == [expected]


def test_a_huge_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(10 * 1024 * 1024)
    message = f"{path}: 10485760 bytes; a study file has at most 262144: shorten it"
    assert refusal_of(path) == message


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"version: 1\nstudy: \xff\n")
    assert refusal_of(path) == f"{path}:2: byte 0xff is no UTF-8; save it as UTF-8"
    path.write_bytes(b"version: 1\n\0")
    message = f"{path}:2: the character U+0000; only printable text is taken: remove it"
    assert refusal_of(path) == message


def test_every_tab_is_named(tmp_path: Path) -> None:
    text = "space:\n\tlr:\n\t\tvalue: 1\n"
    tab = "a tab; YAML takes spaces only: replace it"
    assert problems_of(tmp_path, text) == [f"2: {tab}", f"3: {tab}"]


def test_problems_of_text_and_of_values_come_in_the_order_of_the_lines(tmp_path: Path) -> None:
    text = changed("study: s", "study: 7").replace("{seed: 0}", "{seed: 017, speed: 1}")
    assert [problem.partition(":")[0] for problem in problems_of(tmp_path, text)] == [
        "2",
        "10",
        "10",
    ]


def test_a_name_is_found_in_the_folder_studies_before_the_shipped_ones(tmp_path: Path) -> None:
    assert find_study_file("quickstart", tmp_path).parent.resolve() == shipped_studies().resolve()
    mine = tmp_path / "studies" / "quickstart.yaml"
    mine.parent.mkdir()
    mine.write_text(GOOD)
    assert find_study_file("quickstart", tmp_path) == mine


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    assert find_study_file("mine.yaml", tmp_path) == tmp_path / "mine.yaml"
    assert find_study_file(f"{tmp_path}/mine.yaml", Path()) == tmp_path / "mine.yaml"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "quikstart",
            "no study file 'quikstart' in ./studies or among the shipped ones; "
            "did you mean quickstart?",
        ),
        (
            "mine",
            "no study file 'mine' in ./studies or among the shipped ones; "
            "did you mean ./mine.yaml?",
        ),
        ("min.yaml", "no study file min.yaml; did you mean mine.yaml?"),
        ("nowhere/mine.yaml", "no study file nowhere/mine.yaml; there is no folder {}/nowhere"),
        ("other/", "no study file other/; write one with: sweep init"),
        ("a\0b", "no study file 'a\\x00b' in ./studies or among the shipped ones; "),
        ("x" * 5000, f"no study file '{'x' * 57}...' in ./studies or among the shipped ones; "),
    ],
)
def test_an_unknown_study_names_the_near_ones(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    with pytest.raises(NotFoundError) as caught:
        find_study_file(name, tmp_path)
    assert str(caught.value).startswith(message.format(tmp_path))
    assert "\n" not in str(caught.value)

"""Folders: every study name has a safe one of its own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.coordinator.folders import folder_name, is_log_of, make_folder, study_folder
from sweep.errors import UnusableError


@pytest.mark.parametrize("name", ["lr_bs_opt", "a", "A-1.b", "0"])
def test_a_safe_name_is_its_own_folder(name: str) -> None:
    assert folder_name(name) == name


@pytest.mark.parametrize(
    "name", ["..", ".", "a/b", "../x", "-rf", ".hidden", "x" * 200, "学习率", "a b"]
)
def test_an_unsafe_name_gets_a_safe_folder(name: str) -> None:
    folder = folder_name(name)
    assert folder != name
    assert "/" not in folder
    assert not folder.startswith((".", "-"))
    assert len(folder.encode()) <= 100


@given(st.text(min_size=1, max_size=50), st.text(min_size=1, max_size=50))
def test_two_names_never_share_a_folder(one: str, other: str) -> None:
    assert (one == other) == (folder_name(one) == folder_name(other))


def test_a_run_folder_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(UnusableError, match=r"the run folder /proc/x/s cannot be written: "):
        make_folder(study_folder(Path("/proc/x"), "s", "sqlite:///x.db"))


@pytest.mark.parametrize("name", ["lr_bs_opt", "学习率/x"])
def test_the_log_of_a_run_is_known_in_whichever_run_folder_and_database(
    name: str, tmp_path: Path
) -> None:
    first = study_folder(tmp_path, name, "sqlite:////one.db")
    make_folder(first)
    second = study_folder(tmp_path, name, "sqlite:////two.db")
    assert second.path != first.path
    for folder in (first, second):
        assert is_log_of(folder.log(7, 2), name, 7, 2)
        assert not is_log_of(folder.log(7, 2), name, 7, 1)
        assert not is_log_of(folder.log(7, 2), "other", 7, 2)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "attempt-2.log",
        "runs/s/trials/00007/attempt-2.log",
        "/runs/s/trials/00007/attempt-2.log.old",
        "/x/../s/trials/00007/attempt-2.log",
        "/runs/s-zzzzzzzz/trials/00007/attempt-2.log",
        "/",
    ],
)
def test_no_other_file_is_taken_for_a_log(path: str) -> None:
    assert not is_log_of(Path(path), "s", 7, 2)

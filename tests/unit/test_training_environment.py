"""The environment that a training needs is there as long as the training, and no longer."""

import os

import pytest

from sweep.training.algorithms import CUBLAS_VARIABLE, deterministic_algorithms
from sweep.training.environment import environment, environment_unless_set
from sweep.training.ranks import Ranks, joined, open_meeting

NAME = "SWEEP_TEST_VARIABLE"


@pytest.mark.parametrize("before", [None, "mine"])
def test_variables_are_as_before_afterwards(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    if before is not None:
        monkeypatch.setenv(NAME, before)
    with environment({NAME: "ours"}):
        assert os.environ[NAME] == "ours"
    assert os.environ.get(NAME) == before
    with environment_unless_set({NAME: "ours"}):
        assert os.environ[NAME] == (before or "ours")
    assert os.environ.get(NAME) == before


@pytest.mark.parametrize("name", [CUBLAS_VARIABLE, "GLOO_SOCKET_IFNAME"])
def test_a_training_leaves_no_variable_to_the_next(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name, raising=False)
    with deterministic_algorithms(), joined(open_meeting(1), Ranks(), "cpu"):
        assert name in os.environ
    assert name not in os.environ

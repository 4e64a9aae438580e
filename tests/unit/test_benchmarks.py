"""Each benchmark goes through all of its steps and says on what it measured; no time is judged."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.__main__ import MODULES
from benchmarks.measure import Measure, interleaved, measure_of, quantile
from benchmarks.peers import digits
from benchmarks.peers.textbook import resnet18
from benchmarks.result import Table, text_of
from sweep.spec.find import shipped_studies
from sweep.spec.load import load_study_file
from sweep.spec.recipe import ModelSpec
from sweep.training.model import build_model

ROOT = Path(__file__).parents[2]
DEADLINE_S = 600
OF_A_MEASURE = {"median", "low", "high", "rounds"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        yield from (number for each in value.values() for number in numbers_in(each))
    elif isinstance(value, list):
        yield from (number for each in value for number in numbers_in(each))
    elif isinstance(value, int | float):
        yield value


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_in_its_smallest_form_writes_whole_tables(name: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    done = run(name, "--quick", "-o", str(path))
    assert done.returncode == 0, done.stderr
    document = json.loads(path.read_text())
    assert document["benchmark"] == name
    assert {"processor", "cores", "gpus"} <= set(document["machine"])
    assert {"python", "torch", "optuna", "sweep-trials"} <= set(document["versions"])
    assert {"before", "after"} == set(document["load_average"])
    assert document["tables"]
    for title, rows in document["tables"].items():
        assert title in done.stdout
        assert rows
        assert all(set(row) == set(rows[0]) for row in rows)
        assert all(math.isfinite(number) for number in numbers_in(rows))
        for cell in (cell for row in rows for cell in row.values() if isinstance(cell, dict)):
            assert set(cell) == OF_A_MEASURE


def test_a_benchmark_that_is_not_there_is_named_with_those_that_are() -> None:
    refused = run("speed")
    assert refused.returncode == 2
    assert "invalid choice: 'speed'" in refused.stderr
    assert all(name in refused.stderr for name in MODULES)


def test_every_contender_has_its_turn_in_every_round() -> None:
    turns: list[tuple[str, int]] = []

    def noted(name: str, number: int) -> int:
        turns.append((name, number))
        return number

    names = ("a", "b", "c")
    contenders = {name: lambda number, name=name: noted(name, number) for name in names}
    assert interleaved(contenders, 3) == {name: [0, 1, 2] for name in names}
    assert [number for _, number in turns] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_ratio_is_taken_round_by_round() -> None:
    """A machine that is three times slower in one round does not change who is faster."""
    ours, theirs = measure_of([1.0, 3.0, 1.2]), measure_of([2.0, 6.0, 2.4])
    assert ours.over(theirs) == Measure(rounds=(0.5, 0.5, 0.5))
    assert (ours.low, ours.median, ours.high) == (1.0, 1.2, 3.0)


def test_a_quantile_is_one_of_the_numbers() -> None:
    numbers = [float(number) for number in range(1, 101)]
    assert (quantile(numbers, 0.5), quantile(numbers, 0.99)) == (51.0, 100.0)
    assert quantile([7.0], 0.99) == 7.0


def test_a_table_shows_medians_with_their_spread() -> None:
    rows = [
        {"path": "ours", "images_per_s": measure_of([1000.0, 1234.5, 1500.0]), "ratio": None},
        {"path": "a peer", "images_per_s": measure_of([98.76]), "ratio": 12.5},
    ]
    assert text_of(Table(title="data", rows=rows)).splitlines() == [
        "data",
        "  path            images_per_s  ratio",
        "  ours    1,234 (1,000..1,500)",
        "  a peer                  98.8   12.5",
    ]


def test_the_peer_runs_the_trials_of_the_quickstart() -> None:
    spec = load_study_file(shipped_studies() / "quickstart.yaml")
    assert spec.recipe.model is not None
    assert (spec.training["epochs"], spec.recipe.model.width) == (digits.EPOCHS, digits.WIDTH)
    assert spec.training["momentum"] == digits.MOMENTUM
    assert spec.training["weight_decay"] == digits.WEIGHT_DECAY
    renamed = [
        {("lr" if name.startswith("lr") else name): value for name, value in point.items()}
        for point in digits.ENQUEUED
    ]
    assert renamed == [dict(point) for point in spec.enqueue]
    train, test = digits.digits()
    assert (len(train.labels), len(test.labels)) == (1437, 360)


def test_the_peer_trains_the_same_network() -> None:
    def shapes(model: Any) -> list[tuple[int, ...]]:
        return sorted(tuple(weight.shape) for weight in model.parameters())

    sizes = {"num_classes": 10, "in_channels": 1}
    ours = build_model(ModelSpec(width=16), **sizes, seed=0, device=torch.device("cpu"))
    assert shapes(resnet18(16, 1, 10)) == shapes(ours)

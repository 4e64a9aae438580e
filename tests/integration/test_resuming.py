"""A worker goes on from the newest checkpoint that it can read."""

from pathlib import Path

import pytest

from sweep.records import Checkpoint
from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.wire import EpochReport
from tests.worker_talk import talk

RECIPE = RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(width=8))
TRAINING = {"epochs": 3, "batch_size": 128, "lr": 0.05, "precision": "fp32"}


def damage(checkpoint: Checkpoint) -> None:
    content = bytearray(Path(checkpoint.path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(checkpoint.path).write_bytes(content)


def saved_after(report: EpochReport) -> Checkpoint:
    assert report.checkpoint is not None
    return report.checkpoint


@pytest.mark.parametrize(("num_damaged", "first_epoch"), [(1, 1), (2, 0)])
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    tmp_path: Path, num_damaged: int, first_epoch: int
) -> None:
    with talk(RECIPE, tmp_path) as worker:
        unbroken = worker.trial(4, TRAINING)
        newest_first = [saved_after(unbroken.reports[epoch]) for epoch in (1, 0)]
        for each in newest_first[:num_damaged]:
            damage(each)
        resumed = worker.trial(4, TRAINING, resume=newest_first)
    assert [each.epoch for each in resumed.reports] == [*range(first_epoch, 3)]
    assert [each.metrics for each in resumed.reports] == [
        each.metrics for each in unbroken.reports[first_epoch:]
    ]
    for each in newest_first[:num_damaged]:
        assert f"passed over a checkpoint: {each.path} is cut short or changed" in resumed.log

"""A worker that is kept for many trials keeps nothing of them."""

from pathlib import Path

import psutil

from sweep.records import Cause
from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.wire import Action, Failed, Finished
from tests.worker_talk import Talk, talk

RECIPE = RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(width=4))
OPTIMIZERS = ("sgd", "adam", "rmsprop", "adamw")


def try_one(worker: Talk, number: int, blocked: Path) -> None:
    """A trial that is complete, pruned, refused, or fails after its first epoch, in turns."""
    batch_size = (64, 256, 128)[number % 3]
    training = {"epochs": 2, "batch_size": batch_size, "optimizer": OPTIMIZERS[number % 4]}
    match number % 5:
        case 0 | 1:
            end = worker.trial(number, training).end
            assert end == Finished(trial=number, attempt=1, stopped=False)
        case 2:
            end = worker.trial(number, training, lambda report: Action.STOP).end
            assert end == Finished(trial=number, attempt=1, stopped=True)
        case 3:
            end = worker.trial(number, {**training, "batch_size": 5000}).end
            assert isinstance(end, Failed)
        case _:
            end = worker.trial(number, training, folder=str(blocked / "x")).end
            assert isinstance(end, Failed)
            assert end.cause is Cause.EXCEPTION


def test_memory_open_files_and_child_processes_stay_flat_over_thirty_trials(
    tmp_path: Path,
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    held = []
    with talk(RECIPE, tmp_path) as worker:
        process = psutil.Process(worker.pid)
        for number in range(30):
            try_one(worker, number, blocked)
            children = len(process.children(recursive=True))
            held.append((process.memory_info().rss, process.num_fds(), children))
    memories, files, children_counts = zip(*held, strict=True)
    assert len(set(files)) == 1
    assert len(set(children_counts)) == 1
    # the weights and moments of 25 trials would be 11 MiB
    assert memories[29] - memories[4] < 6 * 2**20

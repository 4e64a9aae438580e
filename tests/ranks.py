"""Trainings by several ranks, each a process of its own, that meet as a worker's ranks do."""

import multiprocessing
from collections.abc import Callable, Mapping
from io import BytesIO
from multiprocessing.connection import Connection
from typing import Any

import torch

from sweep.training.ranks import Ranks, find_meeting, joined, open_meeting
from sweep.training.train import TrainConfig, train

PATIENCE_S = 120

Trained = tuple[list[dict[str, float]], dict[str, Any]]


def train_together(
    config: TrainConfig,
    count: int,
    *,
    device: str = "cpu",
    backend: str | None = None,
    state: Mapping[str, Any] | None = None,
    epochs: int | None = None,
) -> list[Trained]:
    """Each rank's metrics of all epochs and its last state."""
    meeting = open_meeting(count + 1)  # this process only keeps it open
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe(duplex=False) for _ in range(count)]
    processes = [
        context.Process(
            target=_train,
            args=(write, rank, count, meeting.port, config, device, backend, state, epochs),
        )
        for rank, (_, write) in enumerate(pipes)
    ]
    for process in processes:
        process.start()
    try:
        return [_received(read) for read, _ in pipes]
    finally:
        for process in processes:
            process.kill()
            process.join()


def _received(pipe: Connection) -> Trained:
    assert pipe.poll(PATIENCE_S), "a rank says nothing"
    # as bytes: shared memory would go with the process that has sent it
    found: Trained = torch.load(BytesIO(pipe.recv_bytes()), weights_only=True)
    return found


def _train(
    pipe: Connection,
    rank: int,
    count: int,
    port: int,
    config: TrainConfig,
    device: str,
    backend: str | None,
    state: Mapping[str, Any] | None,
    epochs: int | None,
) -> None:
    torch.set_num_threads(1)
    ranks = Ranks(rank=rank, count=count)
    with joined(find_meeting(port, count + 1), ranks, device, backend):
        metrics, last = trained(config, device, state, epochs, ranks)
    content = BytesIO()
    torch.save((metrics, last), content)
    pipe.send_bytes(content.getvalue())


def trained(
    config: TrainConfig,
    device: str = "cpu",
    state: Mapping[str, Any] | None = None,
    epochs: int | None = None,
    ranks: Ranks | None = None,
) -> Trained:
    """The metrics of so many epochs and the last state, whose tensors are on the CPU."""
    found, last = [], {}
    for metrics, reached in train(config, device, state, ranks=ranks or Ranks()):
        found.append(metrics)
        last = copied(reached, lambda tensor: tensor.detach().cpu().clone())
        if len(found) == epochs:
            break
    return found, last


def copied(value: Any, copy: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The value with each tensor in it copied."""
    if isinstance(value, torch.Tensor):
        return copy(value)
    if isinstance(value, Mapping):
        return {key: copied(each, copy) for key, each in value.items()}
    if isinstance(value, list):
        return [copied(each, copy) for each in value]
    return value

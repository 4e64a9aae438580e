"""Ranks: several processes that train one model, each on its part of every batch.

The first one has rank 0. What they add up comes to the same on all of them, so that all take the
same turns without asking each other.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed
from torch._C._distributed_c10d import Store, TCPStore

from sweep.training.environment import environment, environment_unless_set
from sweep.training.splits import Share

_PATIENCE = timedelta(hours=1)
"""How long a rank waits for another, which may be measuring: whether one has died is watched
elsewhere."""

_LOOPBACK = "127.0.0.1"
_ON_THIS_MACHINE = {"GLOO_SOCKET_IFNAME": "lo"}
"""All ranks are on this machine, whose name need not lead to an address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranks:
    """This process's place among those that train one model; alone, nothing needs adding up."""

    rank: int = 0
    count: int = 1

    @property
    def share(self) -> Share:
        """This rank's part of whatever is divided among all."""
        return Share(index=self.rank, count=self.count)

    def add_up(self, totals: Tensor) -> Tensor:
        """The sum over all ranks, in place, the same on each of them."""
        if self.count > 1:
            distributed.all_reduce(totals)
        return totals

    def spread(self, tensors: Iterable[Tensor]) -> None:
        """The tensors of every rank become those of rank 0."""
        if self.count > 1:
            for tensor in tensors:
                distributed.broadcast(tensor, src=0)


ALONE = Ranks()


def ranks_here() -> Ranks:
    """The ranks that this process has joined; alone where it has joined none."""
    if not distributed.is_available() or not distributed.is_initialized():
        return ALONE
    return Ranks(rank=distributed.get_rank(), count=distributed.get_world_size())


def open_meeting(count: int) -> TCPStore:
    """The place on this machine where so many ranks find each other; rank 0 keeps it open."""
    return TCPStore(_LOOPBACK, 0, count, is_master=True, timeout=_PATIENCE, wait_for_workers=False)


def find_meeting(port: int, count: int) -> TCPStore:
    """The place that rank 0 has opened."""
    return TCPStore(_LOOPBACK, port, count, is_master=False, timeout=_PATIENCE)


@contextmanager
def joined(
    meeting: Store, ranks: Ranks, device: str, backend: str | None = None
) -> Iterator[None]:
    """Within, this process is one of the ranks, as torch's own default group knows them.

    They speak NCCL on GPUs, gloo on the CPU. The environment says which rank this is, in the
    words of torchrun, for code that asks there. All ranks leave it together, except for one that
    leaves by an exception, which waits for nobody. Such code may have left it by itself.
    """
    is_gpu = torch.device(device).type == "cuda"
    if is_gpu:
        torch.cuda.set_device(device)
    with environment(_told(ranks)), environment_unless_set(_ON_THIS_MACHINE):
        distributed.init_process_group(
            backend or ("nccl" if is_gpu else "gloo"),
            store=meeting,
            rank=ranks.rank,
            world_size=ranks.count,
            timeout=_PATIENCE,
        )
        try:
            yield
        except BaseException:
            _abort()
            raise
        if distributed.is_initialized():
            distributed.destroy_process_group()


def _abort() -> None:
    """Leave the group as it is: NCCL would wait for what it has begun, and for all the others."""
    if distributed.is_initialized():
        with suppress(RuntimeError):  # a GPU in error, or a backend that knows no abort
            distributed.distributed_c10d._abort_process_group()


def _told(ranks: Ranks) -> dict[str, str]:
    """All ranks are on this machine, so that each is the same there as among them all."""
    rank, count = str(ranks.rank), str(ranks.count)
    return {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}

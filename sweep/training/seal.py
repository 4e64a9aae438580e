"""Seal: a SHA-256 over all that a file holds, by which a change of a single bit is noticed."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor


def seal_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 in hex over names and values; of a tensor over dtype, shape and bytes.

    It is the same wherever the tensors are, and however they lie in memory.
    """
    digest = hashlib.sha256()
    for part in _parts(content):
        digest.update(len(part).to_bytes(8, "big"))  # no two contents give one row of bytes
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, Tensor):
        yield f"{value.dtype} {list(value.shape)}".encode()
        yield _bytes(value)
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)}".encode()
        for key, each in value.items():
            yield repr(key).encode(errors="backslashreplace")
            yield from _parts(each)
    elif isinstance(value, list | tuple):
        yield f"list {len(value)}".encode()
        for each in value:
            yield from _parts(each)
    else:
        yield repr(value).encode(errors="backslashreplace")


def _bytes(tensor: Tensor) -> bytes:
    plain = tensor.detach().cpu()
    plain = plain.dequantize() if plain.is_quantized else plain.to_dense()
    flat = plain.resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()

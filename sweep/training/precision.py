"""Precision: which numbers the layers calculate with; weights and their updates stay fp32."""

from contextlib import AbstractContextManager

import torch

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def dtype_of(precision: str, device: torch.device) -> torch.dtype:
    """The type that `precision` means on `device`; `auto` is the fastest sound one there.

    On a GPU bf16 where the chip itself has it, else fp16 (torch emulates bf16 on older chips,
    slowly); on the CPU fp32.
    """
    if precision != "auto":
        return _DTYPES[precision]
    if device.type != "cuda":
        return torch.float32
    has_bf16 = torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if has_bf16 else torch.float16


def name_of(dtype: torch.dtype) -> str:
    """What a study file calls the type."""
    return next(name for name, each in _DTYPES.items() if each == dtype)


def autocast(dtype: torch.dtype, device: torch.device) -> AbstractContextManager[None]:
    """Within, layers that bear it calculate in `dtype`."""
    return torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32)


def gradient_scaler(dtype: torch.dtype, device: torch.device) -> torch.amp.GradScaler:
    """Keeps fp16's small gradients from vanishing; hands others through unchanged."""
    return torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)

"""Sizes of memory and files, as a person reads them."""

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def show_size(num_bytes: int) -> str:
    """A size in the largest unit that it fills, to three digits: 1 byte, 20.0 KiB, 1.50 GiB."""
    size, units = float(num_bytes), iter(_UNITS)
    unit = next(units)
    while size >= 1024 and unit != _UNITS[-1]:
        size, unit = size / 1024, next(units)
    if unit == "bytes":
        return "1 byte" if num_bytes == 1 else f"{num_bytes} bytes"
    decimals = 2 if size < 10 else 1 if size < 100 else 0
    return f"{size:.{decimals}f} {unit}"

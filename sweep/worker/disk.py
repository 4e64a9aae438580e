"""The disk: why something could not be written, as the error that says what to do."""

import errno

from sweep.errors import DiskError, FullDiskError

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: OSError) -> bool:
    """Whether there was no room left, for anybody or for this user."""
    return error.errno in _FULL


def unwritten(what: str, error: OSError) -> DiskError:
    """What to say when something could not be written."""
    found = f"{what} cannot be written: {error.strerror}"
    if is_full(error):
        return FullDiskError(f"{found}; make room there")
    return DiskError(f"{found}; mend that and run the same command again")

"""Environment: variables of this process that hold for as long as a block lasts."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Within, this process and those that it starts have these variables; then as before."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def environment_unless_set(values: Mapping[str, str]) -> Iterator[None]:
    """The same, but what is set already stays as it is."""
    with environment({name: each for name, each in values.items() if name not in os.environ}):
        yield

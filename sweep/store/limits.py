"""Limits: how many images at once have fitted in a device's memory, and how many have not.

What has once fitted is never too large: where the two meet, something else took the memory.
"""

from sqlalchemy import Connection, and_, func, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from sweep.records import MemoryKey
from sweep.store import rows, schema


def too_large(connection: Connection, key: MemoryKey) -> int | None:
    """The smallest number of images at once that is known not to fit; None if none is."""
    table = schema.limits
    has_never_fitted = func.coalesce(table.c.fits, 0) < table.c.too_large
    return connection.scalar(select(table.c.too_large).where(_is(key), has_never_fitted))


def note_fits(connection: Connection, key: MemoryKey, micro_batch: int) -> None:
    """So many images at once have fitted. Twice is no fault."""
    table = schema.limits
    _add(connection, key)
    is_more = func.coalesce(table.c.fits, 0) < micro_batch
    connection.execute(update(table).where(_is(key), is_more).values(fits=micro_batch))


def note_too_large(connection: Connection, key: MemoryKey, micro_batch: int) -> None:
    """So many images at once have not fitted, unless they once have. Twice is no fault."""
    table = schema.limits
    _add(connection, key)
    fits = func.coalesce(table.c.fits, 0)
    known = func.coalesce(table.c.too_large, fits)
    is_news = and_(fits < micro_batch, or_(known <= fits, known > micro_batch))
    connection.execute(update(table).where(_is(key), is_news).values(too_large=micro_batch))


def _add(connection: Connection, key: MemoryKey) -> None:
    rows.insert_new(connection, schema.limits, _columns(key))


def _is(key: MemoryKey) -> ColumnElement[bool]:
    return and_(*(schema.limits.c[name] == value for name, value in _columns(key).items()))


def _columns(key: MemoryKey) -> dict[str, str | int]:
    return {
        "device_name": rows.clean_text(key.device_name) or "",
        "memory_bytes": key.memory_bytes,
        "recipe_hash": key.recipe_hash,
        "precision": key.precision,
        "optimizer": key.optimizer,
    }

"""Time: aware UTC where it is stored, monotonic seconds where it is measured."""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)


def monotonic_s() -> float:
    """Seconds on a clock that never goes back; only differences mean anything."""
    return time.monotonic()


def iso_format(moment: datetime) -> str:
    """ISO 8601 in UTC with a trailing Z, whole seconds: 2026-12-01T07:03:14Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

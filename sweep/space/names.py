"""Names: the nearest known ones to a mistyped one, whatever the case of either."""

from collections.abc import Iterable
from difflib import get_close_matches

_MAX_CHARS = 100


def near(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that `name` may stand for, the nearest first; only itself in other case."""
    by_folded: dict[str, list[str]] = {}
    for each in known:
        by_folded.setdefault(each.casefold(), []).append(each)
    folded = name.casefold()[:_MAX_CHARS]
    is_known = folded in by_folded
    matches = [folded] if is_known else get_close_matches(folded, by_folded, most, cutoff=0.6)
    return [each for match in matches for each in by_folded[match]][:most]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` most likely stands for; None if none is near."""
    return next(iter(near(name, known, 1)), None)


def hint(name: str, known: Iterable[str]) -> str:
    """What to do about an unknown name: the near one, or all that are known."""
    names = list(known)
    meant = nearest(name, names)
    return f"did you mean {meant}?" if meant else f"known: {', '.join(names) or 'none'}"

"""Names: the nearest known one to a mistyped one."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` most likely stands for, ignoring case; None if none is near."""
    by_folded = {each.casefold(): each for each in known}
    matches = get_close_matches(name.casefold()[:100], by_folded, n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


def hint(name: str, known: Iterable[str]) -> str:
    """What to do about an unknown name: the near one, or all that are known."""
    names = list(known)
    near = nearest(name, names)
    return f"did you mean {near}?" if near else f"known: {', '.join(names) or 'none'}"

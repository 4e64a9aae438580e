"""Scalars: what one unquoted word of YAML 1.2 means, and which words are too easily misread."""

import math
import re

Scalar = bool | int | float | str | None

_NULL = ("", "~", "null", "Null", "NULL")
_SWITCHES = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_REAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_PADDED = re.compile(r"[-+]?0[0-9]+")
_GROUPED = re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?")
_OTHER_BASE = re.compile(r"[-+]?0[xXoObB][0-9a-fA-F]+")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF|nan|NaN|NAN)")
_MAX_DIGITS = 40


def scalar_value(word: str) -> Scalar:
    """The value of an unquoted word. Raises ValueError, with advice, for a misleading number."""
    if word in _NULL:
        return None
    if word in _SWITCHES:
        return _SWITCHES[word]
    _refuse_misleading(word)
    if _WHOLE.fullmatch(word):
        return int(word)
    return float(word) if _REAL.fullmatch(word) else word


def _refuse_misleading(word: str) -> None:
    shown = word if len(word) <= _MAX_DIGITS else f"{word[:_MAX_DIGITS]}..."
    if _PADDED.fullmatch(word):
        raise ValueError(f"{shown} starts with a zero; leave it out, or quote it as text")
    if _GROUPED.fullmatch(word):
        plain = shown.replace("_", "")
        raise ValueError(f"{shown} holds underscores; write {plain}, or quote it as text")
    if _OTHER_BASE.fullmatch(word):
        raise ValueError(f"{shown} is no decimal number; write it in digits, or quote it as text")
    if _NOT_FINITE.fullmatch(word):
        raise ValueError(f"{shown} is no finite number; write one that is")
    if _REAL.fullmatch(word) and (len(word) > _MAX_DIGITS or math.isinf(float(word))):
        raise ValueError(f"{shown} is too long or too large a number; write a smaller one")

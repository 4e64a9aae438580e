"""Display: numbers, times and text as a person reads them on a screen; exact values elsewhere."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from sweep.records import Params, ParamValue
from sweep.views.columns import Kind, is_accuracy

MISSING = ""
_UUID_HEAD = len("GPU-") + 8


def show(value: object, kind: Kind, decimals: int | None = None) -> str:
    """A cell as shown in a table on a screen; a missing one is empty.

    `decimals` is that of the cell's column, from `decimals_of`, so that the points line up.
    """
    if value is None or value != value:
        return MISSING
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return one_line(str(value))
    if kind is Kind.ACCURACY:
        return show_percent(value)
    if kind is Kind.PARAM:
        return _number_of_param(value)
    return show_number(value) if decimals is None else f"{value:.{decimals}f}"


_DIGITS = {Kind.SECONDS: 3, Kind.MEMORY: 3, Kind.RATE: 3, Kind.MONEY: 2}
_MAX_DECIMALS = 4
_SHORT = 6
_SURE = 17


def decimals_of(values: Iterable[object], kind: Kind) -> int | None:
    """How many decimals a column of measured numbers gets; None where each cell has its own."""
    if kind not in _DIGITS:
        return None
    sizes = [abs(v) for v in values if isinstance(v, int | float) and math.isfinite(v)]
    largest = max(sizes, default=0.0)
    if largest == 0:
        return 0
    before_point = math.floor(math.log10(largest)) + 1
    least = 2 if kind is Kind.MONEY else 0
    return min(max(_DIGITS[kind] - before_point, least), _MAX_DECIMALS)


def show_number(value: float) -> str:
    """A number with four significant digits; whole numbers and 10,000 and more in full."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.0f}" if 9_999.5 <= abs(value) < 1e15 else f"{value:.4g}"


def show_percent(fraction: float) -> str:
    """A fraction 0..1 as a percentage with two decimals: 97.22%; what is no fraction as it is."""
    return f"{fraction * 100:.2f}%" if abs(fraction) <= 1 else show_number(fraction)


def show_metric(metric: str, value: float | None) -> str:
    """A metric's value: % for an accuracy, else four digits; `none` where there is none."""
    if value is None:
        return "none"
    return show_percent(value) if is_accuracy(metric) else show_number(float(value))


def show_param(value: ParamValue | None) -> str:
    """A param's value on one line: exact where six digits are enough, else with four.

    Four are those of the number and of its distance from 1: 0.99995 is not 1.
    """
    return show(value, Kind.PARAM)


def _number_of_param(value: float) -> str:
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    if not math.isfinite(value) or float(f"{value:.{_SHORT}g}") == value:
        return f"{value:.{_SHORT}g}"
    error = 5e-4 * min(abs(value), abs(1 - value))
    digits = _enough_digits([(value, error)], 4)
    return show_number(value) if digits == 4 else f"{value:.{digits}g}"


def _enough_digits(numbers: Iterable[tuple[float, float]], least: int) -> int:
    """The fewest significant digits, but `least`, with which no number errs more than it may."""
    return max((_digits_for(value, error, least) for value, error in numbers), default=least)


def _digits_for(value: float, error: float, least: int) -> int:
    enough = (n for n in range(least, _SURE) if abs(float(f"{value:.{n}g}") - value) <= error)
    return next(enough, _SURE)


def show_scale(numbers: Sequence[float], digits: int = 3) -> list[str]:
    """Numbers along a scale, with that many significant digits, or more to tell them apart.

    No text is further from its number than a fiftieth of the way to the next one.
    """
    gaps = [abs(after - before) for before, after in pairwise(numbers)]
    near = zip(numbers, [*gaps[:1], *gaps], [*gaps, *gaps[-1:]], strict=True) if gaps else ()
    enough = _enough_digits(((n, min(left, right) / 50) for n, left, right in near), digits)
    rounded = [float(f"{number:.{enough}g}") for number in numbers]
    return [
        str(int(n)) if n.is_integer() and abs(n) < 1e15 else f"{n:.{enough}g}" for n in rounded
    ]


def show_params(params: Params) -> str:
    """Params on one line: optimizer=sgd lr=0.1 batch_size=128."""
    return " ".join(f"{one_line(name)}={show_param(value)}" for name, value in params.items())


def show_duration(seconds: float) -> str:
    """Seconds in the two units that matter: 8.2 s, 4 min 05 s, 2 h 03 min, 3 d 04 h."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit_s, unit, part_s, part in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= unit_s:
            return f"{whole // unit_s} {unit} {whole % unit_s // part_s:02d} {part}"
    return f"{whole} s"


def show_cost(cost: float, currency: str | None) -> str:
    """An amount of money with its currency, where one is named."""
    amount = show(cost, Kind.MONEY, decimals_of([cost], Kind.MONEY))
    return f"{amount} {one_line(currency)}" if currency else amount


def show_moment(moment: datetime) -> str:
    """A moment in UTC to the second: 2026-12-01 07:03:14 UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def show_device(device: str) -> str:
    """Devices as short as they can be told apart: of a GPU's UUID the first eight digits."""
    names = device.split(",")
    short = (n[:_UUID_HEAD] if n.startswith(("GPU-", "MIG-")) else n for n in names)
    return one_line(",".join(short))


def show_count(count: int, noun: str) -> str:
    """A count with its noun: 1 trial, 2 trials."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def show_list(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def one_line(text: str) -> str:
    """Text without line breaks, escape sequences or other control characters, written out.

    What came from a user or a database must not move a terminal's cursor.
    """
    if text.isprintable():
        return text
    return "".join(_printable(character) for character in text)


def _printable(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode()


def width_of(text: str) -> int:
    """How many columns of a terminal the text takes; wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(_width_of_character(character) for character in text)


def _width_of_character(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int) -> str:
    """The text, cut to a width with an ellipsis at its end where it is longer."""
    if width_of(text) <= width:
        return text
    kept = ""
    for character in text:
        if width_of(kept + character) > width - 1:
            break
        kept += character
    return kept + "…"

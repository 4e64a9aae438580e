"""Markup: pieces of HTML in which every text is escaped unless it is markup already."""

from collections.abc import Sequence
from html import escape


class Markup(str):
    """Text that is HTML; made by `element`, or by hand from what is known to be safe."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Markup:
    """One element around its children.

    Of an attribute's name a trailing underscore is dropped, any other one is a hyphen.
    """
    pairs = "".join(f' {_name(key)}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{pairs}>{joined(children)}</{name}>")


def void(name: str, /, **attributes: str) -> Markup:
    """An element that has neither children nor an end, such as an input."""
    pairs = "".join(f' {_name(key)}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{pairs}>")


def joined(pieces: Sequence[str]) -> Markup:
    """The pieces one after the other, those that are no markup escaped."""
    return Markup("".join(p if isinstance(p, Markup) else escape(p) for p in pieces))


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")

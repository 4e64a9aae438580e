"""Markup: pieces of HTML in which every text is escaped unless it is markup already."""

from html import escape


class Markup(str):
    """Text that is HTML; made by `element`, or by hand from what is known to be safe."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Markup:
    """One element around its children; a trailing underscore of an attribute's name is dropped."""
    pairs = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{pairs}>{joined(children)}</{name}>")


def joined(pieces: "tuple[str, ...] | list[str]") -> Markup:
    """The pieces one after the other, those that are no markup escaped."""
    return Markup("".join(p if isinstance(p, Markup) else escape(p) for p in pieces))

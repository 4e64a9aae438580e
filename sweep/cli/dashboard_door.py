"""Dashboard's door: who may look at it, and what its start says."""

import os
from collections.abc import Callable, Sequence

from sweep.cli.console import answer, tell
from sweep.dashboard.access import TOKEN, Token, given_token, new_token
from sweep.dashboard.guard import is_loopback
from sweep.dashboard.server import Place

TOKEN_VARIABLE = "SWEEP_TOKEN"


def place_of(host: str, port: int, allow_hosts: Sequence[str]) -> tuple[Place, bool]:
    """Where to answer and to whom, and whether the token was made just now.

    A token that is set is always asked for; on loopback alone none is made.
    """
    given = os.environ.get(TOKEN_VARIABLE)
    is_made = not given and not is_loopback(host)
    token: Token | None = new_token() if is_made else given_token(given) if given else None
    return Place(host=host, port=port, allow_hosts=tuple(allow_hosts), token=token), is_made


def announcer(place: Place, *, is_token_shown: bool) -> Callable[[str], None]:
    """Says the address on stdout, with a token that nobody could know otherwise."""

    def announce(url: str) -> None:
        token = place.token
        shown = f"/?{TOKEN}={token.secret}" if token is not None and is_token_shown else ""
        answer(f"{url}{shown}\n")
        if token is not None and not is_token_shown:
            tell(f"opened by the token in {TOKEN_VARIABLE}: {url}/?{TOKEN}=...")
        if not is_loopback(place.host):
            tell("without TLS: on a network you do not trust, use ssh -L instead")
        tell("read-only; Ctrl-C ends it")

    return announce

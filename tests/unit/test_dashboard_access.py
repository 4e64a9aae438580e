"""A token opens the dashboard: shown once in an address, kept as a cookie, or sent as a header."""

from http.cookies import SimpleCookie
from wsgiref.util import setup_testing_defaults

import pytest

from sweep.cli.dashboard_door import announcer, place_of
from sweep.dashboard.access import Token, given_token, new_token, with_token
from sweep.dashboard.server import Place
from sweep.errors import UsageError

SECRET = "0123456789-abcdef"


def inside(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"inside"]


APP = with_token(inside, Token(SECRET))


def ask(query="", path="/compare/a%2Fb", *, app=APP, port="8080", **headers):
    """The status and the headers that are answered by a server on port 8080.

    `port` is the one that a browser asks, at the near end of a tunnel.
    """
    headers = {"HTTP_HOST": f"localhost:{port}"} | headers
    environ = {"QUERY_STRING": query, "REQUEST_URI": f"{path}?{query}", **headers}
    setup_testing_defaults(environ)
    environ["SERVER_PORT"] = "8080"
    answer = {}

    def start_response(status, fields, exc_info=None):
        answer.update(status=int(status[:3]), headers=dict(fields))

    answer["body"] = b"".join(app(environ, start_response))
    return answer


def cookie_of(answer):
    (morsel,) = SimpleCookie(answer["headers"]["Set-Cookie"]).values()
    return morsel


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"query": "token=wrong"},
        {"query": "token="},
        {"query": f"token={SECRET}x"},
        {"HTTP_AUTHORIZATION": "Bearer wrong"},
        {"HTTP_AUTHORIZATION": f"Basic {SECRET}"},
        {"HTTP_COOKIE": "sweep-8080=wrong"},
        {"HTTP_COOKIE": f"sweep-8080={SECRET}"},
        {"HTTP_COOKIE": 'sweep-8080="\\'},
        {"query": "token=wrong", "HTTP_AUTHORIZATION": f"Bearer {SECRET}"},
    ],
    ids=str,
)
def test_who_does_not_show_the_token_stays_outside(given):
    answer = ask(**given)
    assert answer["status"] == 401
    assert answer["headers"]["WWW-Authenticate"].startswith("Bearer")
    assert b"inside" not in answer["body"]
    assert SECRET.encode() not in answer["body"]


def test_a_shown_token_becomes_a_cookie_and_leaves_the_address():
    shown = ask(f"state=complete&token={SECRET}&p.lr=0.1..")
    assert shown["status"] == 303
    assert shown["headers"]["Location"] == "/compare/a%2Fb?state=complete&p.lr=0.1.."
    cookie = cookie_of(shown)
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert SECRET not in cookie.value
    assert ask(HTTP_COOKIE=f"{cookie.key}={cookie.value}")["body"] == b"inside"


def test_a_script_sends_the_token_as_a_bearer():
    assert ask(HTTP_AUTHORIZATION=f"Bearer {SECRET}")["body"] == b"inside"


def test_the_cookie_of_a_dashboard_on_another_port_is_not_taken_for_ours():
    cookie = cookie_of(ask(f"token={SECRET}", port="8081"))
    assert ask(HTTP_COOKIE=f"{cookie.key}={cookie.value}", port="8080")["status"] == 401


@pytest.mark.parametrize("path", ["//evil.example/x", "/\\evil.example", "http://evil.example/"])
def test_nobody_is_sent_on_to_another_site(path):
    place = ask(f"token={SECRET}", path=path)["headers"]["Location"]
    assert place.startswith("/")
    assert not place.startswith(("//", "/\\"))


def test_a_token_is_never_shown_by_accident():
    assert SECRET not in repr(Place(token=Token(SECRET)))


@pytest.mark.parametrize("secret", ["short", "with some spaces", "ümlaut-0123456789", "a&b" * 9])
def test_a_token_that_is_short_or_fits_no_address_is_refused(secret):
    with pytest.raises(UsageError, match="SWEEP_TOKEN is no token") as refusal:
        given_token(secret)
    assert secret not in str(refusal.value)


def test_made_tokens_are_long_and_differ():
    made = {new_token().secret for _ in range(50)}
    assert len(made) == 50
    assert all(given_token(secret) for secret in made)


def test_on_loopback_no_token_is_asked_for_unless_one_is_set(monkeypatch):
    monkeypatch.delenv("SWEEP_TOKEN", raising=False)
    assert place_of("127.0.0.1", 0, [])[0].token is None
    monkeypatch.setenv("SWEEP_TOKEN", SECRET)
    place, is_made = place_of("127.0.0.1", 0, [])
    assert (place.token, is_made) == (Token(SECRET), False)


def test_beyond_loopback_a_token_is_made_and_said_once(monkeypatch, capsys):
    monkeypatch.delenv("SWEEP_TOKEN", raising=False)
    place, is_made = place_of("0.0.0.0", 0, [])
    assert is_made
    announcer(place, is_token_shown=is_made)("http://box:1234")
    said = capsys.readouterr()
    assert said.out == f"http://box:1234/?token={place.token.secret}\n"
    assert place.token.secret not in said.err


def test_a_token_that_was_set_is_not_said(monkeypatch, capsys):
    monkeypatch.setenv("SWEEP_TOKEN", SECRET)
    place, is_made = place_of("0.0.0.0", 0, [])
    announcer(place, is_token_shown=is_made)("http://box:1234")
    said = capsys.readouterr()
    assert said.out == "http://box:1234\n"
    assert SECRET not in said.out + said.err


@pytest.mark.parametrize("host", ["localhost", "[::1]", "box.local", ""])
def test_where_the_browser_names_no_port_the_cookie_has_the_servers(host):
    assert cookie_of(ask(f"token={SECRET}", HTTP_HOST=host)).key == "sweep-8080"


def test_the_cookies_of_two_tunnels_to_one_port_have_names_of_their_own():
    names = {cookie_of(ask(f"token={SECRET}", port=port)).key for port in ("8080", "8081")}
    assert names == {"sweep-8080", "sweep-8081"}
    assert cookie_of(ask(f"token={SECRET}", HTTP_HOST="[::1]:8082")).key == "sweep-8082"

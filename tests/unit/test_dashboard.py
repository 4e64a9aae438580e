"""The dashboard shows the studies to this machine, and lets nobody change them."""

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from wsgiref.util import setup_testing_defaults

import optuna
import pytest

from sweep.dashboard.access import Token
from sweep.dashboard.guard import guard, is_loopback
from sweep.dashboard.server import Place, check_place, own_names, serve
from sweep.errors import NotFoundError, UnusableError, UsageError

DEADLINE_S = 60
SERVE = (
    "import sys; from sweep.dashboard.server import Place, serve; "
    "serve(sys.argv[1], Place(port=0))"
)


def echo(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


def ask(app, *, method="GET", host="localhost:8080"):
    """The status, headers and body that a WSGI app answers."""
    environ = {"REQUEST_METHOD": method, "HTTP_HOST": host}
    setup_testing_defaults(environ)
    answer = {}

    def start_response(status, headers, exc_info=None):
        answer.update(status=int(status[:3]), headers=dict(headers))

    body = b"".join(app(environ, start_response))
    return answer["status"], answer["headers"], body.decode()


def make_study(path: Path, name: str = "digits") -> str:
    """A database with one Optuna study of three trials, as the projection leaves it."""
    url = f"sqlite:///{path}"
    study = optuna.create_study(storage=url, study_name=name, direction="maximize")
    for lr in (0.1, 0.01, 0.001):
        trial = study.ask({"lr": optuna.distributions.FloatDistribution(1e-4, 1.0, log=True)})
        trial.report(lr, 0)
        study.tell(trial, lr)
    study._storage.remove_session()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    return url


@pytest.fixture(scope="module")
def study_url(tmp_path_factory) -> str:
    return make_study(tmp_path_factory.mktemp("dashboard") / "sweep.db")


@contextmanager
def served(url: str, settings: str = "") -> Iterator[tuple[str, int]]:
    """The real server as its own process, with some of its constants set: host and port."""
    with subprocess.Popen(
        [sys.executable, "-c", settings + SERVE, url], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            address = process.stdout.readline().strip()
            host, _, port = address.removeprefix("http://").partition(":")
            yield host, int(port)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(study_url) -> Iterator[tuple[str, int]]:
    with served(study_url) as address:
        yield address


def request(server, path, *, method="GET", headers=None, body=None):
    with closing(http.client.HTTPConnection(*server, timeout=DEADLINE_S)) as connection:
        connection.request(method, path, headers=headers or {}, body=body)
        response = connection.getresponse()
        return response.status, response.headers, response.read()


def test_connections_that_say_nothing_shut_nobody_out(study_url):
    few = (
        "import sweep.dashboard.server as s; s.MOST_CONNECTIONS = 20; s.IDLE_S = s.CLEANUP_S = 1\n"
    )
    with served(study_url, few) as address, ExitStack() as idle:
        for _ in range(120):
            idle.enter_context(socket.create_connection(address, timeout=DEADLINE_S))
        assert request(address, "/")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading_methods_are_let_in(method):
    status, _, body = ask(guard(echo), method=method)
    assert status == 403
    assert body == "This dashboard is read-only: only GET and HEAD are answered.\n"


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8080", "LOCALHOST:9000", "127.0.0.1:8080", "127.8.0.1", "[::1]:8080"],
)
def test_every_name_of_this_machine_is_let_in(host):
    assert ask(guard(echo), host=host)[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8080",
        "10.0.0.7:8080",
        "0.0.0.0:8080",
        "localhost:",
        "localhost:80:80",
        "localhost@evil.example",
        "[::2]:8080",
        "2130706433",
    ],
)
def test_a_foreign_name_is_refused_because_it_may_have_been_made_to_point_here(host):
    status, _, body = ask(guard(echo), host=host)
    assert status == 403
    assert "--allow-host" in body


def test_an_allowed_name_is_let_in_with_any_port_unless_it_names_one():
    app = guard(echo, allow_hosts=["Lab.example", "box.example:8080"])
    assert ask(app, host="lab.example:1234")[0] == 200
    assert ask(app, host="box.example:8080")[0] == 200
    assert ask(app, host="box.example:1234")[0] == 403


def test_every_answer_forbids_framing_and_sniffing():
    for method in ("GET", "POST"):
        headers = ask(guard(echo), method=method)[1]
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_only_loopback_addresses_are_loopback():
    assert is_loopback("::1")
    assert is_loopback("127.0.0.1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("example.org")


def test_the_study_and_its_trials_are_served(server):
    studies = json.loads(request(server, "/api/studies")[2])["study_summaries"]
    assert [study["study_name"] for study in studies] == ["digits"]
    study = json.loads(request(server, f"/api/studies/{studies[0]['study_id']}")[2])
    assert [trial["state"] for trial in study["trials"]] == ["Complete"] * 3


def test_the_pages_are_served_also_to_a_client_without_accept_encoding(server):
    status, headers, body = request(server, "/dashboard")
    assert status == 200
    assert b"Optuna Dashboard" in body
    assert any("script-src" in policy for policy in headers.get_all("Content-Security-Policy"))
    with closing(http.client.HTTPConnection(*server, timeout=DEADLINE_S)) as connection:
        connection.putrequest("GET", "/static/bundle.js", skip_accept_encoding=True)
        connection.endheaders()
        assert connection.getresponse().status == 200


def test_a_trial_cannot_be_told_and_a_study_cannot_be_deleted(server, study_url):
    told = request(server, "/api/trials/1/tell", method="POST", body='{"state": "Fail"}')
    assert told[0] == 403
    assert request(server, "/api/studies/1", method="DELETE")[0] == 403
    assert optuna.load_study(storage=study_url, study_name="digits").best_value == 0.1


def test_a_foreign_name_is_refused_by_the_server_too(server):
    assert request(server, "/api/studies", headers={"Host": "evil.example"})[0] == 403


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_cleanly_and_frees_its_port(study_url, number):
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, study_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        port = int(process.stdout.readline().strip().rpartition(":")[2])
        os.kill(process.pid, number)
        _, stderr = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, stderr) == (0, "")
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_port_in_use_is_explained_in_one_line(study_url):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UnusableError, match=f"port {port} on 127.0.0.1 .*--port") as refusal:
            serve(study_url, Place(port=port))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "gpu-box.example"])
def test_a_host_that_others_can_reach_is_refused_with_the_tunnel_to_use(study_url, host):
    with pytest.raises(UsageError, match=r"SWEEP_TOKEN.*ssh -L"):
        serve(study_url, Place(host=host, port=0))


def test_a_port_that_is_none_is_refused(study_url):
    with pytest.raises(UsageError, match="--port 70000 is no port"):
        serve(study_url, Place(port=70000))


def test_without_a_database_there_is_nothing_to_serve_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(NotFoundError, match="there is no database"):
        serve(f"sqlite:///{tmp_path / 'none.db'}", Place(port=0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("host", ["nohost.invalid", "192.0.2.1"])
def test_a_host_that_is_not_this_machine_is_named_as_the_fault(study_url, host):
    with pytest.raises(UnusableError, match=f"--host {host} is no address of this machine"):
        serve(study_url, Place(host=host, port=0, token=Token("0123456789abcdef")))


def test_no_host_at_all_is_not_every_host():
    with pytest.raises(UsageError, match="--host is empty"):
        check_place(Place(host="", token=Token("0123456789abcdef")))


@pytest.mark.parametrize("name", ["http://box.example/", "*.example", "a b", "", "box:x"])
def test_a_name_that_no_address_bar_shows_is_refused(name):
    with pytest.raises(UsageError, match="is no host: give it as it stands in the address bar"):
        check_place(Place(allow_hosts=(name,)))
    check_place(Place(allow_hosts=("box.example:8080", "lab", "[::1]:80")))


def test_with_a_token_others_may_reach_it_under_the_machines_own_names():
    check_place(Place(host="0.0.0.0", token=Token("0123456789abcdef")))
    assert socket.gethostname() in own_names("0.0.0.0")
    assert "127.0.0.1" in own_names("0.0.0.0")
    assert own_names("192.168.1.7") == ["192.168.1.7"]
    assert own_names("fe80::7") == ["[fe80::7]"]
    assert own_names("127.0.0.1") == []

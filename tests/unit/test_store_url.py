"""URLs of databases: what they point at, and how they are shown."""

from pathlib import Path

import pytest

from sweep.errors import UsageError
from sweep.store.sqlite import network_kind
from sweep.store.url import DEFAULT_URL, default_url, hide_password, locate

MOUNTS = """\
/dev/vda / ext4 rw,relatime 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb /home/local xfs rw 0 0
//nas/share /mnt/my\\040share cifs rw 0 0
sshfs#host: /mnt/ssh fuse.sshfs rw 0 0
/dev/sdc1 /mnt/usb fuseblk rw 0 0
"""


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, DEFAULT_URL),
        ({"OPTUNA_STORAGE": "sqlite:///o.db"}, "sqlite:///o.db"),
        (
            {"SWEEP_STORAGE": "sqlite:///s.db", "OPTUNA_STORAGE": "sqlite:///o.db"},
            "sqlite:///s.db",
        ),
        ({"SWEEP_STORAGE": ""}, DEFAULT_URL),
    ],
)
def test_the_environment_names_the_storage_where_no_flag_does(environ, expected):
    assert default_url(environ) == expected


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_postgresql_uses_the_same_driver(scheme):
    location = locate(f"{scheme}://user:p%40ss@host:5432/db")
    assert location.connection_string == "postgresql+psycopg://user:p%40ss@host:5432/db"
    assert str(location) == f"{scheme}://user:***@host:5432/db"
    assert location.path is None


def test_a_file_is_located_from_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    location = locate("sqlite:///runs/sweep.db")
    assert location.path == tmp_path / "runs" / "sweep.db"
    assert location.connection_string == f"sqlite:///{tmp_path}/runs/sweep.db"
    assert str(location) == f"{tmp_path}/runs/sweep.db"
    assert locate("sqlite:////abs/x.db").path == Path("/abs/x.db")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "the storage is empty; write sqlite:///PATH or postgresql://"),
        ("runs/sweep.db", "runs/sweep.db is a path; write sqlite:///runs/sweep.db"),
        ("/abs/sweep.db", "/abs/sweep.db is a path; write sqlite:////abs/sweep.db"),
        ("redis:x", "storage redis:x is no URL; write sqlite:///PATH or postgresql://"),
        ("mysql://u:pw@h/d", "storage mysql://u:***@h/d: mysql:// is not known; write sqlite:"),
        ("postgresql+psycopg2://h/d", "postgresql+psycopg2:// is not known"),
        ("sqlite+aiosqlite:///x.db", "sqlite+aiosqlite:// is not known"),
        ("sqlite://x.db", "a SQLite URL has three slashes; write sqlite:///x.db"),
        ("sqlite://", "names no file that stays; write sqlite:///runs/sweep.db"),
        ("sqlite:///:memory:", "names no file that stays; write sqlite:///runs/sweep.db"),
        ("sqlite:///file:x.db?uri=true", "names no file that stays"),
        ("sqlite:///runs/", "names a folder; write sqlite:///"),
        ("sqlite:///x.db?timeout=3", "takes no ?options; write sqlite:///PATH"),
        ("postgresql://u:pw@h:port/d", "storage postgresql://u:***@h:port/d cannot be read"),
        ("postgresql://u:p@w@h/d", "an @ that is not the one before the host; in a password"),
        ("postgresql://u:p/w@h/d", "an @ that is not the one before the host; in a password"),
        ("postgresql://u:pw", "storage postgresql://u:*** cannot be read as a URL"),
    ],
)
def test_a_url_that_is_not_taken_is_explained_in_one_line(url, message):
    with pytest.raises(UsageError) as caught:
        locate(url)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql://u:pw@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:@h/d", "postgresql://u:***@h/d"),
        ("postgresql://h:5432/d", "postgresql://h:5432/d"),
        ("postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d"),
        ("postgresql://u:p@w@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:p/w@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:p?w@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:p:w@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:pw", "postgresql://u:***"),
        ("postgresql://u:pw/d", "postgresql://u:***/d"),
        ("postgresql:///d?user=u&password=pw&x=1", "postgresql:///d?user=u&password=***&x=1"),
        ("postgresql:///d?sslpassword=pw", "postgresql:///d?sslpassword=***"),
        ("sqlite:///runs/sweep.db", "sqlite:///runs/sweep.db"),
        ("runs/sweep.db", "runs/sweep.db"),
    ],
)
def test_a_password_is_never_shown(url, shown):
    assert hide_password(url) == shown


@pytest.mark.parametrize("password", ["'secret'", "geheim"])
def test_a_password_stays_out_of_the_whole_chain_of_errors(password):
    with pytest.raises(UsageError) as caught:
        locate(f"postgresql://u:{password}/d")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib", None),
        ("/home/me", "nfs4"),
        ("/home/local/me", None),
        ("/homestead", None),
        ("/mnt/my share/x", "cifs"),
        ("/mnt/ssh", "fuse.sshfs"),
        ("/mnt/usb", None),
    ],
)
def test_a_network_file_system_is_known_by_its_mount(folder, kind):
    assert network_kind(Path(folder), MOUNTS) == kind
